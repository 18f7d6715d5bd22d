import { basename, join } from 'node:path'
import {
  type Adapter,
  type AdapterContext,
  type AdapterRow,
  bridgeStops,
  type HarnessSession,
  type Probe,
  type WakeEnd,
  type WakeTools,
} from '../../../bridge/adapter.ts'
import { localAddress } from '../../../bridge/local/address.ts'
import type { ReportedConversation } from '../../../bridge/local/clients.ts'
import { reasonOfState } from '../../../bridge/reason-of-state.ts'
import { isWithin } from '../../../bridge/target/choose-session.ts'
import { isSameProcess } from '../../../bridge/target/same-conversation.ts'
import type { OutgoingWake } from '../../../bridge/wake-text.ts'
import type { Reason } from '../../../words/sender-view.ts'
import { nameOf } from '../tmux/harness-in-pane.ts'
import type { Process } from '../tmux/processes.ts'
import { programNames, programOf } from '../tmux/programs.ts'
import { turnProofOf, withTurnProof } from '../tmux/turn-proof.ts'
import { typedLine } from '../tmux/typed-line.ts'
import { type Application, applicationOf, namesItsTab } from './application.ts'
import { type Machine, type Run, thisMac } from './machine.ts'
import { lockScreen } from './screen-lock.ts'
import { doneOf, missingPermission, type Verdict, verdictOf } from './verdict.ts'

const processOf = ({ pid, startedAt }: Process) => ({ pid, startedAt: new Date(startedAt).toISOString() })

/** Pastes a line into a window of a terminal on macOS. The last resort: where nothing else reaches the harness. Source: S1-21, S1-38. */
export const osascriptRow: AdapterRow = {
  id: 'osascript',
  title: 'a window on macOS',
  proves: ['written', 'turn_started'],
  isOptIn: true,
  settings: {
    bringToFront: {
      type: 'boolean',
      help: 'bring the window to the front for a wake (default: false, the wake waits)',
    },
  },
  create: (context) => createOsascriptAdapter(context),
}

const retryMs = 5_000
const noTab =
  'This application does not say which of its tabs is in front. Run the harness in Terminal, iTerm2 or tmux.'
const held = (detail: string, reason: Reason = 'cannot_start_turn'): WakeEnd => ({
  step: 'held',
  detail,
  reason,
  retryAfterMs: retryMs,
})

/** `machine`: this one, but in tests. */
export function createOsascriptAdapter(context: AdapterContext, machine: Machine = thisMac()): Adapter {
  const { clients, directories, settings, env } = context
  const isMac = machine.platform === 'darwin'
  const bring = settings.bringToFront === true ? 'bring' : 'leave'
  const place = localAddress(env, { platform: machine.platform, uid: process.getuid?.() ?? -1 })?.directory
  /** Known after a try alone: to look for it would ask the user. */
  let missing: string | undefined
  let last: Promise<unknown> = Promise.resolve()

  async function probe(): Promise<Probe> {
    if (!isMac) return { isThere: false, sessions: [], remarks: ['osascript is a program of macOS: use tmux here.'] }
    const found = harnessesIn(machine.processes())
    const paths = await machine.directories(found.map(({ process }) => process.pid))
    const sessions = found.flatMap((one) => sessionOf(one, paths.get(one.process.pid)))
    return { isThere: true, sessions, remarks: missing === undefined ? [] : [missing] }
  }

  function sessionOf(found: WindowHarness, path: string | undefined): HarnessSession[] {
    const reported = reportedOf(found)
    const cwd = path ?? reported?.cwd
    if (cwd === undefined || !isWithin(cwd, directories)) return []
    const session = { conversationId: `process ${found.process.pid}`, cwd, process: processOf(found.process) }
    const way = namesItsTab(found.application) ? { route: 'osascript' } : { remark: noTab }
    return [{ harness: 'osascript', ...session, state: reported?.state ?? 'unknown', ...way }]
  }

  /** Returns the report of the hooks of the harness about its process. */
  function reportedOf({ name, process }: WindowHarness): ReportedConversation | undefined {
    const own = processOf(process)
    return clients
      .reportedConversations(name)
      .find((reported) => reported.process && isSameProcess(reported.process, own) === 'yes')
  }

  async function wakeAlone(session: HarnessSession, wake: OutgoingWake, tools: WakeTools): Promise<WakeEnd> {
    if (!isMac || place === undefined) return { step: 'failed', detail: 'osascript is a program of macOS.' }
    if (tools.signal.aborted) return bridgeStops
    const unlock = lockScreen(join(place, 'osascript.lock'))
    if (!unlock) return held('another program of ours pastes just now')
    let end: WakeEnd
    try {
      end = await paste(session, wake, tools)
    } finally {
      unlock()
    }
    return withTurnProof(clients, wake.id, end, tools)
  }

  async function paste(session: HarnessSession, wake: OutgoingWake, tools: WakeTools): Promise<WakeEnd> {
    const found = harnessOf(session, machine.processes())
    if (!found) return { step: 'misaddressed', detail: `${session.conversationId} has ended, or left its window` }
    const { application, name } = found
    if (!namesItsTab(application)) return held(noTab)
    const state = reportedOf(found)?.state
    if (state === 'active' || state === 'waitingOnApproval')
      return held(`its hooks say that it is ${state}`, reasonOfState(state))
    const tty = await machine.tty(found.process.pid)
    if (tty === undefined) return held('its terminal cannot be determined', 'presence_unknown')
    const target = [String(application.pid), application.path]
    const looked = await machine.osascript(['look', ...target, bring], tools.signal)
    const wanted = { application: basename(application.path, '.app'), tty, program: programOf(name) }
    const verdict = readable(looked) ?? verdictOf(looked.stdout, wanted)
    if (verdict.kind === 'held') return held(verdict.why, verdict.reason)
    await tools.handingOver('osascript')
    const line = typedLine(wake.text)
    return endOf(await machine.osascript(['write', ...target, 'leave', verdict.mark, tty, line]))
  }

  /** Why a look has shown nothing; undefined: it has. */
  function readable({ isOver, stderr }: Run): Extract<Verdict, { kind: 'held' }> | undefined {
    missing = isOver ? undefined : missingPermission(stderr)
    if (isOver) return undefined
    if (missing !== undefined) return { kind: 'held', why: missing, reason: 'cannot_start_turn' }
    return { kind: 'held', why: 'what is in front cannot be read', reason: 'presence_unknown' }
  }

  return {
    probe,
    wake(session, wake, tools) {
      const ended = last.then(() => wakeAlone(session, wake, tools))
      last = ended.catch(() => {})
      return ended
    },
    // A line that a window does not show may have been there.
    async find(_session, wakeId) {
      return (await turnProofOf(clients, wakeId, AbortSignal.abort())) ? 'turn_started' : 'unknown'
    },
    async [Symbol.asyncDispose]() {
      await last
    },
  }
}

/** Returns the outcome of a paste. A paste is never repeated, because it cannot be determined whether the text arrived. */
function endOf({ isOver, stdout }: Run): WakeEnd {
  const did = isOver ? doneOf(stdout) : undefined
  if (did === 'nothing') return held('the window changed before anything was pasted', 'presence_unknown')
  if (did === 'entered') return { step: 'written', detail: 'pasted into the window, and entered' }
  if (did === 'pasted') return { step: 'unknown', detail: 'it may stand in the composer, and was not sent' }
  return { step: 'unknown', detail: 'osascript has not said whether it was pasted' }
}

/** A harness that has the keys of its terminal, in a window of an application. */
interface WindowHarness {
  readonly name: string
  readonly process: Process
  readonly application: Application
}

/** The harnesses in windows. Of one that starts itself again it is the last one. Pure. */
export function harnessesIn(processes: ReadonlyMap<number, Process>): WindowHarness[] {
  const all = [...processes.values()].flatMap((one): WindowHarness[] => {
    const name = one.isForeground ? nameOf(one, programNames) : undefined
    const application = name && applicationOf(one.pid, processes)
    return name && application ? [{ name, process: one, application }] : []
  })
  return all.filter(
    ({ name, process }) => !all.some((other) => other.name === name && other.process.parent === process.pid),
  )
}

/** The harness of a session, if its process still runs there. Pure. */
function harnessOf(session: HarnessSession, processes: ReadonlyMap<number, Process>): WindowHarness | undefined {
  const { process: wanted } = session
  return wanted && harnessesIn(processes).find(({ process }) => isSameProcess(wanted, processOf(process)) === 'yes')
}
