import type { ApiAnswer } from '../../fronts/mcp/call-api.ts'
import { type Conversation, conversation } from '../../harnesses/conversation.ts'
import type { HarnessProcess } from '../../harnesses/harness-process.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { HttpApi } from './http-api.ts'

interface SessionParts {
  readonly api: HttpApi
  readonly surface: () => string
  /** Returns the known facts of the conversation of the harness when its session starts. */
  readonly conversation?: () => { readonly harness?: Conversation }
  readonly process: HarnessProcess
  readonly debug: (text: string) => void
  /** Between two signs of life, where the gateway does not say how long a session may be silent. */
  readonly beatMs?: number
}

/** A session that was started or found, or the refusal of the gateway; neither: the key has no sessions, an operator's. */
type Standing = { readonly id?: string; readonly refusal?: ApiAnswer }

const endMaxMs = 1_500
const beatMsDefault = 60_000
const leaveMail = { 'rouse-pending-signals': 'none' }

/**
 * The Rouse session of the harness that started this process. It begins with the first call, gives signs of life, and begins again
 * when it has ended. When a newer process speaks for the agent, it asks the gateway again with each call and never takes over by
 * itself: the gateway decides by the start of the processes. Source: D12, D26.
 */
export class AgentSession implements AsyncDisposable {
  readonly #parts: SessionParts
  #id: string | undefined
  #starting: Promise<Standing> | undefined
  #timer: NodeJS.Timeout | undefined
  /** The refusal that stands for good: without the start of its process, a new try would preempt the newer process. */
  #final: ApiAnswer | undefined
  #ended = false
  /** Ends a start that takes too long when everything ends. */
  readonly #givingUp = new AbortController()
  #bound: string | undefined
  #isPreempted = false

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  get id(): string | undefined {
    return this.#id
  }

  /** True when a newer process speaks for the agent: then nothing that happens is for this one. Source: D12. */
  get isPreempted(): boolean {
    return this.#isPreempted
  }

  /** Notes that a session was preempted, as the log records. */
  notePreempted(id: unknown): void {
    if (id === undefined || id !== this.#id) return
    this.#isPreempted = true
  }

  /** Resolves with the session, which is started if there is none. Errors: `GatewayUnreachable`. */
  ensure(): Promise<Standing> {
    if (this.#final) return Promise.resolve({ refusal: this.#final })
    if (this.#id !== undefined || this.#ended) return Promise.resolve(this.#id === undefined ? {} : { id: this.#id })
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined
    })
    return this.#starting
  }

  /** Notes under which id the harness knows its conversation, as a call of a tool reports it. Returns at once. */
  bind(conversationId: string): void {
    if (this.#bound === conversationId) return
    this.#bound = conversationId
    // A session that is being started may have begun without it.
    const started = this.#starting ?? Promise.resolve()
    started
      .then(() => this.#noteConversation(conversationId))
      .catch((error: Error) => {
        this.#parts.debug(`The conversation is not noted: ${error.message}`)
      })
  }

  /** Notes an answer about this session. Returns whether the session has ended, and may start again. */
  note(id: string, { status, body }: ApiAnswer): boolean {
    const isGone = status === 404 && body.code === 'session-not-found'
    if (!isGone && !(status === 409 && body.code === 'session-ended')) return false
    if (this.#id === id) this.#id = undefined
    clearTimeout(this.#timer)
    if (body.reason !== 'preempted') return true
    this.#isPreempted = true
    this.#parts.debug(`A newer session speaks for the agent: ${String(body.newMasterSession)}.`)
    if (this.#parts.process.startedAt === undefined) this.#final = { status, headers: {}, body }
    return false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended = true
    clearTimeout(this.#timer)
    const late = setTimeout(() => this.#givingUp.abort(new Error('the connection has ended')), endMaxMs)
    await this.#starting?.catch(() => undefined)
    clearTimeout(late)
    const id = this.#id
    this.#id = undefined
    if (id === undefined) return
    const request = { method: 'DELETE', path: `/v1/sessions/${id}`, headers: leaveMail } as const
    await this.#parts.api(request, AbortSignal.timeout(endMaxMs)).catch((error: unknown) => {
      this.#parts.debug(`The session was not ended: ${(error as Error).message}`)
    })
  }

  async #noteConversation(conversationId: string): Promise<void> {
    const { harness } = conversation(undefined, conversationId)
    const id = this.#id
    if (id === undefined || harness === undefined || this.#bound !== conversationId) return
    const request = { method: 'PUT', path: `/v1/sessions/${id}`, headers: leaveMail } as const
    await this.#parts.api({ ...request, body: { harness: { ...harness } } })
  }

  async #start(): Promise<Standing> {
    const { api, surface, process } = this.#parts
    const known = this.#bound === undefined ? this.#parts.conversation?.() : conversation(undefined, this.#bound)
    const body = { surface: surface(), ...process, drain: false, ...known } as JsonObject
    const request = { method: 'POST', path: '/v1/sessions', body, headers: leaveMail } as const
    const answer = await api(request, this.#givingUp.signal)
    const { status, body: started } = answer
    // An operator has no sessions, and needs none.
    if (status === 403) return {}
    this.#isPreempted = started.code === 'session-preempted'
    if (status >= 400 || typeof started.sessionId !== 'string') return { refusal: answer }
    this.#id = started.sessionId
    const { timeoutSeconds } = started
    const beatMs = this.#parts.beatMs ?? (typeof timeoutSeconds === 'number' ? timeoutSeconds * 333 : beatMsDefault)
    this.#beatAfter(beatMs)
    return { id: this.#id }
  }

  #beatAfter(ms: number): void {
    clearTimeout(this.#timer)
    if (this.#ended) return
    this.#timer = setTimeout(() => void this.#beat(ms), ms)
    // The connection keeps the process, not the session.
    this.#timer.unref()
  }

  async #beat(ms: number): Promise<void> {
    const id = this.#id
    if (id === undefined) return
    try {
      const answer = await this.#parts.api({ method: 'PUT', path: `/v1/sessions/${id}`, body: {}, headers: leaveMail })
      const isOver = this.note(id, answer)
      // After a time-out (the machine slept) the session begins again by itself; one that was ended begins again with the next call.
      if (isOver && answer.body.reason === 'timeout') await this.ensure()
    } catch (error) {
      this.#parts.debug(`No sign of life: ${(error as Error).message}`)
    }
    if (this.#id === id) this.#beatAfter(ms)
  }
}
