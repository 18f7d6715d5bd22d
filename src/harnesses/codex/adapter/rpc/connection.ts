import { isJsonObject, type JsonObject } from '../../../../lib/json.ts'
import { ConnectionLost, RpcError, refusalOf } from './refusals.ts'
import type { Transport } from './transport.ts'

const requestMaxMs = 5_000
const openRequestsMax = 64
const messageTextMax = 300
/** The waits after an answer that the server has too much to do, with jitter. */
const overloadMs = [100, 300, 900] as const

/** The number of a request of a server, on one connection. */
export type RequestId = number | string

/** A message that the server sends by itself. `id`: it is a request, and wants an answer, which is the user's to give. */
export interface ServerMessage {
  readonly method: string
  readonly params: JsonObject
  readonly id?: RequestId
}

/** A JSON-RPC connection to an app-server. A request of the server is a question to the user, and has no answer but `respond`. */
export class Connection implements AsyncDisposable {
  readonly #transport: Transport
  readonly #open = new Map<number, (answer: JsonObject | ConnectionLost) => void>()
  readonly #listeners = new Set<(said: ServerMessage) => void>()
  readonly closed: Promise<string>
  #lastId = 0
  #lost: ConnectionLost | undefined

  constructor(transport: Transport) {
    this.#transport = transport
    transport.onText((text) => this.#take(text))
    this.closed = transport.closed.then((why) => {
      this.#lost = new ConnectionLost(why)
      for (const answer of this.#open.values()) answer(this.#lost)
      return why
    })
  }

  get isClosed(): boolean {
    return this.#lost !== undefined
  }

  /** Calls back with what the server sends. Returns what ends that. */
  listen(listener: (said: ServerMessage) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Answers a request of the server. */
  respond(id: RequestId, result: JsonObject): void {
    this.#transport.send(JSON.stringify({ id, result }))
  }

  notify(method: string): void {
    this.#transport.send(JSON.stringify({ method }))
  }

  /** Asks, again where the server has too much to do. Errors: `RpcError`, `ConnectionLost`. */
  async call(method: string, params: JsonObject, maxMs = requestMaxMs): Promise<JsonObject> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#callOnce(method, params, maxMs)
      } catch (error) {
        const waitMs = overloadMs[attempt]
        if (refusalOf(error) !== 'overloaded' || waitMs === undefined) throw error
        await new Promise((resolve) => setTimeout(resolve, waitMs * (0.5 + Math.random())))
      }
    }
  }

  async #callOnce(method: string, params: JsonObject, maxMs: number): Promise<JsonObject> {
    if (this.#lost) throw this.#lost
    if (this.#open.size >= openRequestsMax) throw new ConnectionLost('the app-server leaves too many requests open')
    const id = ++this.#lastId
    const answer = await new Promise<JsonObject | ConnectionLost>((resolve) => {
      const timer = setTimeout(() => take(new ConnectionLost(`${method}: no answer within ${maxMs} ms`)), maxMs)
      const take = (answer: JsonObject | ConnectionLost) => {
        clearTimeout(timer)
        this.#open.delete(id)
        resolve(answer)
      }
      this.#open.set(id, take)
      this.#transport.send(JSON.stringify({ id, method, params }))
    })
    if (answer instanceof ConnectionLost) throw answer
    if (isJsonObject(answer.error)) {
      const { code, message } = answer.error
      throw new RpcError(Number(code), String(message).slice(0, messageTextMax))
    }
    return isJsonObject(answer.result) ? answer.result : {}
  }

  #take(text: string): void {
    const message = parsed(text)
    if (!message) return
    const { id, method, params } = message
    if (typeof method === 'string') {
      const request = typeof id === 'number' || typeof id === 'string' ? { id } : {}
      const said = { method, params: isJsonObject(params) ? params : {}, ...request }
      for (const listener of this.#listeners) listener(said)
    } else if (typeof id === 'number') this.#open.get(id)?.(message)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#transport[Symbol.asyncDispose]())
  }
}

function parsed(text: string): JsonObject | undefined {
  try {
    const message: unknown = JSON.parse(text)
    return isJsonObject(message) ? message : undefined
  } catch {
    return undefined
  }
}
