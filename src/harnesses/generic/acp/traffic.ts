import type { OutgoingWake } from '../../../bridge/adapter.ts'
import { wakeIdsIn } from '../../../bridge/wake-text.ts'
import { isJsonObject } from '../../../lib/json.ts'
import type { ReceiptStep } from '../../../words/receipts.ts'
import { AcpSession } from './acp-session.ts'
import { keyOf, lineOf, type Rpc, rpcIn } from './rpc.ts'

/** The handlers of the proxy for the messages that it has read. */
interface TrafficEvents {
  toAgent(line: Buffer | string): void
  toEditor(line: Buffer | string): void
  /** A session has begun, or its state is another one. */
  changed(session: AcpSession): void
  ended(session: AcpSession): void
  /** Takes the outcome of a wake, and its proof. */
  proved(session: AcpSession, wakeId: string, step: ReceiptStep, proof: string): void
}

/** Ids of our own requests. An editor counts, or has ids of its own. */
const ownIds = 'rouse:'
const requestsMax = 10_000
const sessionsMax = 64
/** The updates of an agent while it works on a turn of version 1. Others come at any time: modes, commands, titles. */
const ofTurn = new Set(['agent_message_chunk', 'agent_thought_chunk', 'tool_call', 'tool_call_update', 'plan'])
const beginsSession = new Set(['session/new', 'session/load', 'session/resume', 'session/fork'])
const endsSession = new Set(['session/close', 'session/delete'])
const asksUser = new Set(['session/request_permission', 'elicitation/create'])
const requestCancelled = -32_800

/**
 * Reads what an editor and its agent say to each other, and passes every line on as it is. Its own prompts go to the agent only between
 * turns, and their answers come back to it alone. While one runs, a prompt of the editor waits; the editor's cancel ends ours too.
 * Source: Agent Client Protocol 1 and 2.
 */
export class AcpTraffic {
  readonly sessions = new Map<string, AcpSession>()
  readonly #events: TrafficEvents
  /** The requests of the editor, until their answers. */
  readonly #requests = new Map<string, Rpc>()
  #version = 1

  constructor(events: TrafficEvents) {
    this.#events = events
  }

  fromEditor(line: Buffer): void {
    const rpc = rpcIn(line.toString('utf8'))
    if (rpc?.method === undefined) {
      if (rpc?.id !== undefined) this.#answered(rpc.id)
      this.#events.toAgent(line)
      return
    }
    if (rpc.method === 'session/prompt' && this.#isToWait(rpc, line)) return
    if (rpc.method === '$/cancel_request' && this.#isGivenUp(rpc)) return
    if (rpc.method === 'session/cancel') this.#cancel(rpc)
    if (rpc.id !== undefined) this.#ask(rpc, rpc.id)
    this.#events.toAgent(line)
  }

  fromAgent(line: Buffer): void {
    const rpc = rpcIn(line.toString('utf8'))
    const isOwn = rpc !== undefined && rpc.method === undefined && String(rpc.id).startsWith(ownIds)
    // The editor sees first what its prompt waits for.
    if (!isOwn) this.#events.toEditor(line)
    if (!rpc) return
    if (isOwn) this.#ownAnswer(rpc)
    else if (rpc.method === undefined) this.#answer(rpc)
    else if (rpc.method === 'session/update') this.#update(rpc)
    else if (rpc.id !== undefined && asksUser.has(rpc.method)) this.#question(rpc, rpc.id)
  }

  /** Sends a wake as a prompt; a text: why not now. */
  wake(sessionId: string, wake: OutgoingWake): string | undefined {
    const session = this.sessions.get(sessionId)
    if (!session) return 'the session has ended'
    if (session.state === 'waitingOnApproval') return 'the agent asks its user something'
    if (session.state !== 'idle') return 'the agent works on a turn'
    session.own = { wakeId: wake.id, hasBegun: false, isInHistory: false, isCancelled: false }
    const content = { type: 'text', text: wake.lines }
    const params = { sessionId, prompt: [content] }
    this.#events.toAgent(lineOf({ id: `${ownIds}${wake.id}`, method: 'session/prompt', params }))
    // An agent of version 2 tells the editor itself.
    if (this.#version === 1) {
      const update = { sessionUpdate: 'user_message_chunk', content }
      this.#events.toEditor(lineOf({ method: 'session/update', params: { sessionId, update } }))
    }
    this.#events.changed(session)
    return undefined
  }

  #session({ params }: Rpc): AcpSession | undefined {
    return typeof params.sessionId === 'string' ? this.sessions.get(params.sessionId) : undefined
  }

  #ask(rpc: Rpc, id: string | number): void {
    if (this.#requests.size < requestsMax) this.#requests.set(keyOf(id), rpc)
    const session = this.#session(rpc)
    if (!session) return
    if (rpc.method === 'session/prompt') {
      session.prompts.add(keyOf(id))
      this.#events.changed(session)
    }
    if (endsSession.has(rpc.method!)) this.#end(session)
  }

  /** Version 1 has one turn at a time. Of version 2 the agent itself orders what comes meanwhile. */
  #isToWait(rpc: Rpc, line: Buffer): boolean {
    const session = this.#session(rpc)
    if (this.#version !== 1 || !session?.own || session.own.isCancelled || rpc.id === undefined) return false
    session.waiting.push({ id: rpc.id, line })
    return true
  }

  /** A prompt that waits here, and that the editor does not want any more. */
  #isGivenUp({ params }: Rpc): boolean {
    const id = params.requestId ?? params.id
    for (const { waiting } of this.sessions.values()) {
      const at = waiting.findIndex((one) => one.id === id)
      if (at < 0) continue
      waiting.splice(at, 1)
      const error = { code: requestCancelled, message: 'The request was cancelled.' }
      this.#events.toEditor(lineOf({ id: id as string | number, error }))
      return true
    }
    return false
  }

  #cancel(rpc: Rpc): void {
    const session = this.#session(rpc)
    if (!session) return
    for (const { id } of session.waiting.splice(0)) {
      this.#events.toEditor(lineOf({ id, result: { stopReason: 'cancelled' } }))
    }
    if (session.own) session.own.isCancelled = true
  }

  /** The editor has answered a question of the agent. */
  #answered(id: string | number): void {
    for (const session of this.sessions.values()) {
      if (session.questions.delete(keyOf(id))) this.#events.changed(session)
    }
  }

  #question(rpc: Rpc, id: string | number): void {
    const session = this.#session(rpc)
    if (!session) return
    if (session.questions.size < requestsMax) session.questions.add(keyOf(id))
    this.#events.changed(session)
  }

  #answer(rpc: Rpc): void {
    const key = rpc.id === undefined ? '' : keyOf(rpc.id)
    const request = this.#requests.get(key)
    if (!request) return
    this.#requests.delete(key)
    if (request.method === 'session/prompt') {
      const session = this.#session(request)
      if (session?.prompts.delete(key)) this.#events.changed(session)
    }
    if (!rpc.result) return
    if (request.method === 'initialize' && rpc.result.protocolVersion === 2) this.#version = 2
    if (beginsSession.has(request.method!))
      this.#begin(rpc.result.sessionId ?? request.params.sessionId, request.params.cwd)
  }

  #begin(id: unknown, cwd: unknown): void {
    if (typeof id !== 'string' || this.sessions.has(id)) return
    const oldest = [...this.sessions.values()].find(({ state }) => state === 'idle')
    if (this.sessions.size >= sessionsMax && oldest) this.#end(oldest)
    const session = new AcpSession(id, typeof cwd === 'string' ? cwd : undefined)
    this.sessions.set(id, session)
    this.#events.changed(session)
  }

  #end(session: AcpSession): void {
    this.sessions.delete(session.id)
    for (const { line } of session.waiting.splice(0)) this.#events.toAgent(line)
    this.#events.ended(session)
  }

  #update(rpc: Rpc): void {
    const session = this.#session(rpc)
    const { update } = rpc.params
    if (!session || !isJsonObject(update)) return
    const kind = String(update.sessionUpdate)
    if (kind === 'state_update') this.#noteState(session, update.state)
    const { own } = session
    if (!own) return
    if (this.#version === 1 && ofTurn.has(kind)) this.#begun(session, `session/update ${kind}`)
    if (kind.startsWith('user_message') && wakeIdsIn(JSON.stringify(update.content ?? '')).includes(own.wakeId)) {
      own.isInHistory = true
    }
    if (this.#version === 2 && own.isInHistory && session.reportedState === 'running')
      this.#begun(session, 'user_message, running')
    if (this.#version === 2 && own.hasBegun && session.reportedState === 'idle') this.#ownEnd(session)
  }

  #noteState(session: AcpSession, state: unknown): void {
    const before = session.state
    if (state === 'running' || state === 'requires_action' || state === 'idle') session.reportedState = state
    if (session.state !== before) this.#events.changed(session)
  }

  #begun(session: AcpSession, proof: string): void {
    const { own } = session
    if (!own || own.hasBegun) return
    own.hasBegun = true
    this.#events.proved(session, own.wakeId, 'turn_started', proof)
  }

  /** Version 1 answers at the end of the turn, version 2 when it has taken the prompt. */
  #ownAnswer({ id, result, error }: Rpc): void {
    const wakeId = String(id).slice(ownIds.length)
    const session = [...this.sessions.values()].find(({ own }) => own?.wakeId === wakeId)
    if (!session?.own) return
    const { own } = session
    if (error) {
      if (!own.hasBegun)
        this.#events.proved(session, wakeId, 'failed', `error ${String(error.code)}: ${String(error.message)}`)
      this.#ownEnd(session)
      return
    }
    if (result === undefined || (this.#version === 1 && typeof result.stopReason !== 'string')) {
      if (!own.hasBegun)
        this.#events.proved(session, wakeId, 'unknown', 'the agent has answered neither a result nor an error')
      this.#ownEnd(session)
      return
    }
    if (this.#version === 2) {
      if (!own.hasBegun) this.#events.proved(session, wakeId, 'delivered', 'session/prompt was accepted')
      if (own.hasBegun && session.reportedState === 'idle') this.#ownEnd(session)
      return
    }
    const proof = `stopReason ${String(result.stopReason)}`
    // A prompt that was cancelled before the agent said a word may not have reached its model.
    if (!own.hasBegun) this.#events.proved(session, wakeId, own.isCancelled ? 'delivered' : 'turn_started', proof)
    this.#ownEnd(session)
  }

  /** Our turn is over: the editor's prompts go on in their order. */
  #ownEnd(session: AcpSession): void {
    session.own = undefined
    for (const { line } of session.waiting.splice(0)) this.fromEditor(line)
    this.#events.changed(session)
  }
}
