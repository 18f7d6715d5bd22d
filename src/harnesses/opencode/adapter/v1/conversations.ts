import type { HarnessSession } from '../../../../bridge/adapter.ts'
import type { PresenceState } from '../../../../words/presence.ts'
import { type OpenedWith, openedWith } from '../processes/arguments.ts'
import { type Activity, readActivity, stateOf } from './activity.ts'
import type { V1Session } from './api.ts'
import type { V1Server } from './servers.ts'
import { portRoute } from './wake.ts'

/** Which process runs a conversation, as far as its events have shown: processes of one user share their conversations. */
type Owners = ReadonlyMap<string, number>

/** The conversations that a process may show now. Errors: it does not answer. */
export async function conversationsOf(
  server: V1Server,
  owners: Owners,
  signal: AbortSignal,
): Promise<HarnessSession[]> {
  const { api, directory, pid } = server
  const [all, activity] = await Promise.all([api.sessions(directory, signal), readActivity(api, signal)])
  const startedAt = server.startedAt === undefined ? undefined : Date.parse(server.startedAt)
  const shown = shownSessions(all, { pid, directory, startedAt, openedWith: openedWith(pid) }, owners)
  return shown.map((session) => describe(server, session, activity, shown.length))
}

function describe(server: V1Server, { id }: V1Session, activity: Activity, candidates: number): HarnessSession {
  const { pid, startedAt, directory } = server
  const state: PresenceState = stateOf(id, activity)
  return {
    harness: 'opencode',
    conversationId: id,
    cwd: directory,
    process: { pid, ...(startedAt === undefined ? {} : { startedAt }) },
    state,
    route: portRoute,
    ...(candidates > 1 ? { remark: `${candidates} conversations of process ${pid} were used: ${whichIsShown}` } : {}),
  }
}

const whichIsShown = 'only the plugin knows which one the terminal shows. Run: rouse install opencode --bridge'

/** A process as far as it reports which conversations are its own. */
interface Shower extends Pick<V1Server, 'pid' | 'directory'> {
  /** ms since the epoch; undefined: not known. */
  readonly startedAt: number | undefined
  readonly openedWith: OpenedWith
}

/**
 * The conversations that a process may show: those that it has run, or that have changed since it started; otherwise the one that it opened
 * with. Without those that another process runs, and those of subagents. All processes of a user see the same list, and the one that gets a
 * prompt runs the turn, even if its terminal shows another conversation. Pure.
 */
export function shownSessions(all: readonly V1Session[], shower: Shower, owners: Owners): V1Session[] {
  const { pid, directory, startedAt, openedWith } = shower
  const own = all.filter(
    ({ id, parentID, time, ...session }) =>
      !parentID && !time.archived && session.directory === directory && (owners.get(id) ?? pid) === pid,
  )
  const used = own.filter(
    ({ id, time }) => owners.get(id) === pid || startedAt === undefined || time.updated >= startedAt - slackMs,
  )
  if (used.length > 0) return used
  if (openedWith.sessionId) return own.filter(({ id }) => id === openedWith.sessionId)
  const [last] = [...own].sort((a, b) => b.time.updated - a.time.updated)
  return openedWith.continues && last ? [last] : []
}

/** The system counts the start of a process in hundredths of a second. */
const slackMs = 20
