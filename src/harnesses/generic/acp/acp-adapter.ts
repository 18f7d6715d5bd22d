import type { Adapter, AdapterContext, AdapterRow, HarnessSession, Probe, WakeEnd } from '../../../bridge/adapter.ts'
import { type AttachedClient, type LocalReport, WakeDeclined } from '../../../bridge/local/clients.ts'
import { reasonOfState } from '../../../bridge/reason-of-state.ts'
import type { PresenceState } from '../../../words/presence.ts'
import { meaningOf } from '../../../words/receipts.ts'

/** Hands a wake to the proxy that stands between an editor and its agent (`rouse bridge acp`). */
export const acpRow: AdapterRow = {
  id: 'acp',
  title: 'an agent of the Agent Client Protocol',
  proves: ['written', 'delivered', 'turn_started'],
  settings: {},
  create: createAcpAdapter,
}

const howToStart =
  'No agent runs behind the proxy: in the editor, put `rouse bridge acp --` before the command of the agent.'
/** A model may take this long to its first word. */
const turnMsMax = 120_000
const heldRetryMs = 5_000

const isLast = ({ step }: LocalReport): boolean => step === 'turn_started' || meaningOf(step) === 'failed'

const whyHeld: Readonly<Record<string, string>> = {
  active: 'the agent works on a turn',
  waitingOnApproval: 'the agent asks its user something',
}

const held = (detail: string, state: PresenceState | undefined): WakeEnd => ({
  step: 'held',
  detail,
  reason: reasonOfState(state),
  retryAfterMs: heldRetryMs,
})

/** Errors with which an agent refuses a prompt: those of JSON-RPC, and "authentication required". */
const refusals = /^error (-32700|-32600|-32601|-32602|-32000):/

/** The agent has answered with an error. What it had done by then it does not say, unless it is a refusal. */
const failed = (detail: string): WakeEnd =>
  refusals.test(detail) ? { step: 'failed', detail, isUntouched: true, isTurn: true } : { step: 'unknown', detail }

function createAcpAdapter({ clients }: AdapterContext): Adapter {
  const clientOf = ({ conversationId, process }: HarnessSession): AttachedClient | undefined =>
    clients
      .attached('acp')
      .find((client) => client.conversationId === conversationId && client.process?.pid === process?.pid)

  async function probe(): Promise<Probe> {
    const sessions = clients.attached('acp').map(sessionOf)
    return { isThere: sessions.length > 0, sessions, remarks: sessions.length > 0 ? [] : [howToStart] }
  }

  /** Resolves with the report that says most, until the proxy is gone or the time is over. */
  async function proofOf(
    session: HarnessSession,
    wakeId: string,
    outer: AbortSignal,
  ): Promise<LocalReport | 'gone' | undefined> {
    const over = new AbortController()
    const relay = () => over.abort()
    const unwatch = clients.onChange('acp', () => clientOf(session) ?? over.abort('gone'))
    const timer = setTimeout(relay, turnMsMax)
    outer.addEventListener('abort', relay, { once: true })
    if (outer.aborted) relay()
    if (!clientOf(session)) over.abort('gone')
    try {
      const end = await clients.reported(wakeId, isLast, over.signal)
      const weaker = end ?? (await clients.reported(wakeId, ({ step }) => step === 'delivered', AbortSignal.abort()))
      return weaker ?? (over.signal.reason === 'gone' ? 'gone' : undefined)
    } finally {
      clearTimeout(timer)
      outer.removeEventListener('abort', relay)
      unwatch()
    }
  }

  return {
    probe,
    async watch(noteSession, signal) {
      const tell = () => clients.attached('acp').map(sessionOf).forEach(noteSession)
      const unwatch = clients.onChange('acp', tell)
      tell()
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      unwatch()
    },
    async wake(session, wake, tools): Promise<WakeEnd> {
      const client = clientOf(session)
      if (!client) return { step: 'misaddressed', detail: 'the session has ended, or its proxy is gone' }
      const why = whyHeld[client.state ?? 'idle']
      if (why !== undefined) return held(why, client.state)
      await tools.handingOver('proxy')
      try {
        await client.send(wake)
      } catch (error) {
        const detail = (error as Error).message
        return error instanceof WakeDeclined ? held(detail, clientOf(session)?.state) : { step: 'unknown', detail }
      }
      tools.report('written', 'sent to the agent as session/prompt')
      const proof = await proofOf(session, wake.id, tools.signal)
      if (proof === 'gone') return { step: 'unknown', detail: 'the agent ended before it said that the turn began' }
      if (!proof) return { step: 'written', detail: 'the agent has not said that the turn began' }
      if (meaningOf(proof.step) === 'failed') return failed(proof.proof)
      return { step: proof.step as 'turn_started', detail: proof.proof }
    },
    /** The proxy takes a wake once. */
    async find(session, wakeId) {
      if (await clients.reported(wakeId, ({ step }) => step === 'turn_started', AbortSignal.abort()))
        return 'turn_started'
      return clientOf(session) ? 'absent' : 'unknown'
    },
    async [Symbol.asyncDispose]() {},
  }
}

function sessionOf({ conversationId, cwd, process, state = 'unknown', activeTurnId }: AttachedClient): HarnessSession {
  return {
    harness: 'acp',
    conversationId,
    ...(cwd === undefined ? {} : { cwd }),
    ...(process === undefined ? {} : { process }),
    state,
    ...(activeTurnId === undefined ? {} : { activeTurnId }),
    route: 'proxy',
  }
}
