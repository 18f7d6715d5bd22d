import { randomBytes } from 'node:crypto'
import { isAbsolute, sep } from 'node:path'
import {
  type Adapter,
  type AdapterContext,
  type AdapterRow,
  bridgeStops,
  type HarnessSession,
  type OutgoingWake,
  type Probe,
  type WakeEnd,
  type WakeTools,
} from '../../../bridge/adapter.ts'
import { type HarnessInPane, harnessIn } from './harness-in-pane.ts'
import { cwdOf, type Process, readProcesses } from './processes.ts'
import { programNames, programOf } from './programs.ts'
import { readScreen, stateOf } from './screen.ts'
import { styledRows } from './styled-rows.ts'
import { type Pane, TmuxServer } from './tmux-server.ts'
import { turnProofOf, withTurnProof } from './turn-proof.ts'
import { typeLine } from './typing.ts'

const option = '@rouse_lock'

const value = /^(\d+)-(\d+)-[0-9a-f]+$/

/** Types a line into a pane of tmux, where nothing else reaches the harness in it. The weakest proof, and the most that can go wrong. Source: S1-21, S1-38. */
export const tmuxRow: AdapterRow = {
  id: 'tmux',
  title: 'tmux',
  proves: ['written', 'turn_started'],
  isOptIn: true,
  settings: {
    socketPath: { type: 'string', help: 'the socket of the tmux server (default: that of the user)' },
    programs: {
      type: 'strings',
      help: `which programs it may type into: ${programNames.join(', ')} (default: all of these)`,
    },
  },
  create: createTmuxAdapter,
}

/** `if-shell -F`, options of panes. */
const versionMin = 3
const locked: WakeEnd = {
  step: 'held',
  detail: 'another bridge types into this pane',
  reason: 'cannot_start_turn',
  retryAfterMs: 2_000,
}

function createTmuxAdapter(context: AdapterContext): Adapter {
  const { socketPath, names } = settingsOf(context.settings)
  const server = new TmuxServer(context.env, socketPath)
  const lastOfPane = new Map<string, Promise<unknown>>()

  async function probe(): Promise<Probe> {
    const version = await server.version().catch(() => undefined)
    if (version === undefined) return { isThere: false, sessions: [], remarks: ['tmux is not installed.'] }
    if (!(Number.parseFloat(version) >= versionMin)) {
      return { isThere: true, version, sessions: [], remarks: [`tmux ${version} is too old: install 3.0 or later.`] }
    }
    const panes = await server.panes().catch(() => undefined)
    if (!panes) return { isThere: true, version, sessions: [], remarks: ['No server of tmux runs here.'] }
    const processes = readProcesses()
    const found = panes.map((pane) => ({ pane, harness: harnessIn(pane.pid, processes, names) }))
    const sessions = await Promise.all(found.map(({ pane, harness }) => harness && sessionOf(pane, harness)))
    return { isThere: true, version, sessions: sessions.filter((session) => session !== undefined), remarks: [] }
  }

  async function sessionOf(pane: Pane, { name, process }: HarnessInPane): Promise<HarnessSession | undefined> {
    const cwd = cwdOf(process.pid) ?? pane.cwd
    if (!isAllowed(cwd, context.directories)) return undefined
    const seen = await server.look(pane.id).catch(() => undefined)
    if (!seen) return undefined
    const reading = readScreen(styledRows(seen.screen), seen.cursor, programOf(name))
    const startedAt = new Date(process.startedAt).toISOString()
    return {
      harness: 'tmux',
      conversationId: pane.id,
      cwd,
      process: { pid: process.pid, startedAt },
      state: stateOf(reading),
      route: 'tmux',
      ...(reading.kind === 'unreadable' ? { remark: `The screen of ${programOf(name).title} cannot be read.` } : {}),
    }
  }

  async function wakeAlone(session: HarnessSession, wake: OutgoingWake, tools: WakeTools): Promise<WakeEnd> {
    if (tools.signal.aborted) return bridgeStops
    const harness = await harnessOf(session)
    if (!harness)
      return { step: 'misaddressed', detail: `${session.conversationId} has another program now, or is gone.` }
    const pane = session.conversationId
    const unlock = await lockPane(server, pane, readProcesses)
    if (!unlock) return locked
    try {
      const hand = { server, pane, program: programOf(harness.name), now: context.now }
      const end = await typeLine(hand, wake.text, tools)
      return end.step === 'written' ? await withTurnProof(context.clients, wake.id, end, tools) : end
    } finally {
      await unlock()
    }
  }

  /** The harness of a pane, if it is the process that was seen there. */
  async function harnessOf({ conversationId, process }: HarnessSession): Promise<HarnessInPane | undefined> {
    const pane = (await server.panes().catch(() => [])).find(({ id }) => id === conversationId)
    const harness = pane && harnessIn(pane.pid, readProcesses(), names)
    if (!harness || harness.process.pid !== process?.pid) return undefined
    return new Date(harness.process.startedAt).toISOString() === process.startedAt ? harness : undefined
  }

  return {
    probe,
    wake(session, wake, tools) {
      const pane = session.conversationId
      const woken = (lastOfPane.get(pane) ?? Promise.resolve()).then(() => wakeAlone(session, wake, tools))
      const ended = woken.then(
        () => {},
        () => {},
      )
      lastOfPane.set(pane, ended)
      void ended.then(() => lastOfPane.get(pane) === ended && lastOfPane.delete(pane))
      return woken
    },
    // A line that a screen does not show may have been there.
    async find(_session, wakeId) {
      return (await turnProofOf(context.clients, wakeId, AbortSignal.abort())) ? 'turn_started' : 'unknown'
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(lastOfPane.values())
    },
  }
}

/** Errors: an unknown program, a path that is not absolute, with the name of the field. */
function settingsOf({ socketPath, programs: wanted }: AdapterContext['settings']) {
  if (socketPath !== undefined && !(typeof socketPath === 'string' && isAbsolute(socketPath))) {
    throw new Error(`tmux.socketPath must be an absolute path, not ${String(socketPath)}.`)
  }
  const names = Array.isArray(wanted) ? wanted : programNames
  const unknown = names.find((name) => !programNames.includes(name))
  if (unknown !== undefined) {
    throw new Error(`tmux.programs: ${String(unknown)} is not one of ${programNames.join(', ')}.`)
  }
  return { socketPath: socketPath as string | undefined, names: names as readonly string[] }
}

const isAllowed = (cwd: string, directories: readonly string[]): boolean =>
  directories.some((directory) => cwd === directory || cwd.startsWith(`${directory}${sep}`))

/**
 * Locks a pane, so that no other bridge types into it. The lock is an option of the pane, which the server of tmux changes atomically. The
 * lock of a dead process is taken over. Resolves with a function that releases it; undefined: another process has it.
 */
async function lockPane(
  server: TmuxServer,
  pane: string,
  readProcesses: () => ReadonlyMap<number, Process>,
): Promise<(() => Promise<void>) | undefined> {
  const processes = readProcesses()
  const own = `${process.pid}-${processes.get(process.pid)?.startedAt ?? 0}-${randomBytes(8).toString('hex')}`
  let holder = await server.swap(pane, option, '', own)
  if (holder !== own && !isAlive(holder, processes)) holder = await server.swap(pane, option, holder, own)
  if (holder !== own) return undefined
  return async () => {
    // A pane that is gone has no lock.
    await server.swap(pane, option, own, '').catch(() => {})
  }
}

function isAlive(holder: string, processes: ReadonlyMap<number, Process>): boolean {
  const [, pid, startedAt] = value.exec(holder) ?? []
  return pid !== undefined && (processes.get(Number(pid))?.startedAt ?? 0) === Number(startedAt)
}
