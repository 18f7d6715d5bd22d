import type { RequestId } from '@modelcontextprotocol/server'
import { isJsonObject } from '../../lib/json.ts'
import type { HttpApi } from './http-api.ts'

interface UnshownAnswer {
  readonly sessionId: string
  readonly messageIds: readonly string[]
}

const returnMaxMs = 1_500
/** As many as the gateway takes in one call. */
const callMax = 100

/**
 * Mail that has come with answers of the gateway, and is not written to the client yet. It counts as delivered there. What the client
 * does not get, because it cancels the call or is gone, is returned: then it waits for the next answer. Source: S2-14.
 */
export class UnshownMail implements AsyncDisposable {
  readonly #api: HttpApi
  readonly #debug: (text: string) => void
  readonly #unwritten = new Map<RequestId | undefined, Set<UnshownAnswer>>()
  readonly #returning = new Set<Promise<void>>()

  constructor(api: HttpApi, debug: (text: string) => void) {
    this.#api = api
    this.#debug = debug
  }

  /** Notes the mail in an answer to a request of the client. Returns what returns it; undefined: the answer has none. */
  note(request: RequestId | undefined, sessionId: string, pendingSignals: unknown): (() => void) | undefined {
    const signals = Array.isArray(pendingSignals) ? pendingSignals.filter(isJsonObject) : []
    const messageIds = signals.map((signal) => signal.signal_id).filter((id) => typeof id === 'string')
    if (messageIds.length === 0) return undefined
    const one = { sessionId, messageIds }
    const others = this.#unwritten.get(request) ?? new Set()
    this.#unwritten.set(request, others.add(one))
    return () => {
      if (others.delete(one)) this.#return(one)
    }
  }

  /** Notes that the result of a request is written. */
  written(request: RequestId): void {
    this.#unwritten.delete(request)
  }

  /** Returns what is not written, and resolves when the gateway has it, after a second and a half at the latest. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const all of this.#unwritten.values()) for (const one of all) this.#return(one)
    this.#unwritten.clear()
    await Promise.all(this.#returning)
  }

  #return({ sessionId, messageIds }: UnshownAnswer): void {
    const body = { sessionId, messageIds: messageIds.slice(0, callMax) }
    const request = { method: 'POST', path: '/v1/inbox/returns', body } as const
    const returning = this.#api(request, AbortSignal.timeout(returnMaxMs))
      .then(({ status }) => this.#debug(`Returned ${body.messageIds.length} messages that were not read: ${status}.`))
      .catch((error: Error) => this.#debug(`Mail that was not read stays in the inbox: ${error.message}`))
      .finally(() => this.#returning.delete(returning))
    this.#returning.add(returning)
  }
}
