import { existsSync } from 'node:fs'
import type {
  Adapter,
  AdapterContext,
  AdapterRow,
  HarnessSession,
  OutgoingWake,
  Probe,
  WakeEnd,
  WakeTools,
} from '../../../bridge/adapter.ts'
import { type AttachedClient, type LocalReport, WakeDeclined } from '../../../bridge/local/clients.ts'
import { processStart } from '../../../bridge/processes.ts'
import { reasonOfState } from '../../../bridge/reason-of-state.ts'
import { within } from '../../../lib/within.ts'
import { directoryOf } from '../../places.ts'
import { programPath } from '../../program-path.ts'

export const copilotRow: AdapterRow = {
  id: 'copilot',
  title: 'Copilot CLI',
  proves: ['accepted', 'turn_started'],
  settings: {},
  create: (context) => new CopilotAdapter(context),
}

/** How long a turn is waited for in a session that rests. */
const turnMaxMs = 60_000
/** An extension says what it knows as soon as it has found the bridge again. */
const findMaxMs = 10_000

/** The sessions of Copilot CLI whose extension of ours has called. */
export class CopilotAdapter implements Adapter {
  readonly #context: AdapterContext
  readonly #turnMaxMs: number
  readonly #findMaxMs: number

  constructor(context: AdapterContext, { turnMs = turnMaxMs, findMs = findMaxMs } = {}) {
    this.#context = context
    this.#turnMaxMs = turnMs
    this.#findMaxMs = findMs
  }

  async probe(): Promise<Probe> {
    const { env } = this.#context
    const place = { env, platform: process.platform, cwd: process.cwd() }
    const sessions = this.#clients().map(described)
    const isThere =
      programPath('copilot', place) !== undefined || existsSync(directoryOf(place, 'COPILOT_HOME', '.copilot'))
    const remarks =
      isThere && sessions.length === 0
        ? ['Copilot CLI: no session has called. It needs rouse install copilot --bridge, and /experimental on.']
        : []
    return { isThere: isThere || sessions.length > 0, sessions, remarks }
  }

  async wake(target: HarnessSession, wake: OutgoingWake, tools: WakeTools): Promise<WakeEnd> {
    const before = this.#ready(target)
    if ('step' in before) return before
    await tools.handingOver('extension')
    const now = this.#ready(target)
    if ('step' in now) return now
    try {
      await now.client.send(wake)
    } catch (error) {
      const detail = `the extension: ${(error as Error).message}`
      if (!(error instanceof WakeDeclined)) return { step: 'unknown', detail }
      return { step: 'held', detail, reason: 'cannot_start_turn' }
    }
    tools.report('accepted', 'Copilot CLI: session.send')
    using late = within(this.#turnMaxMs, tools.signal)
    const report = await this.#context.clients.reported(wake.id, isTurn, late.signal)
    if (report) return { step: 'turn_started', detail: `the event ${report.proof}` }
    return { step: 'written', detail: `no turn has begun within ${Math.round(this.#turnMaxMs / 1_000)} s` }
  }

  async find(_target: HarnessSession, wakeId: string, signal: AbortSignal): Promise<'turn_started' | 'unknown'> {
    using late = within(this.#findMaxMs, signal)
    const report = await this.#context.clients.reported(wakeId, isTurn, late.signal)
    return report ? 'turn_started' : 'unknown'
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  /** The newest of each conversation: an extension that is loaded again calls again. */
  #clients(): AttachedClient[] {
    const newest = new Map<string, AttachedClient>()
    for (const client of this.#context.clients.attached('copilot')) {
      if (!newest.has(client.conversationId)) newest.set(client.conversationId, client)
    }
    return [...newest.values()]
  }

  /** A queued wake cannot be taken back, so only an idle session is woken. */
  #ready({ conversationId }: HarnessSession): { readonly client: AttachedClient } | WakeEnd {
    const client = this.#clients().find((one) => one.conversationId === conversationId)
    if (client === undefined) {
      return { step: 'held', detail: 'the session has ended, or its extension is loaded again', reason: 'no_session' }
    }
    const { state = 'unknown' } = client
    return state === 'idle' ? { client } : { step: 'held', detail: heldWords[state], reason: reasonOfState(state) }
  }
}

const isTurn = ({ step }: LocalReport) => step === 'turn_started'

const heldWords = {
  unknown: 'the session has not said what it does: it does so with its next turn',
  active: 'a turn runs',
  waitingOnApproval: 'the session waits for its user',
  userTyping: 'its user types',
} as const

function described({
  conversationId,
  cwd,
  process: found,
  state = 'unknown',
  activeTurnId,
}: AttachedClient): HarnessSession {
  const startedAt = found && (found.startedAt ?? processStart(found.pid)?.startedAt)
  return {
    harness: 'copilot',
    conversationId,
    state,
    route: 'extension',
    ...(cwd === undefined ? {} : { cwd }),
    ...(found === undefined ? {} : { process: { pid: found.pid, ...(startedAt === undefined ? {} : { startedAt }) } }),
    ...(activeTurnId === undefined ? {} : { activeTurnId }),
  }
}
