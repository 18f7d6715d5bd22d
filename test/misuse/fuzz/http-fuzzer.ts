import { Pool } from 'undici'
import { beginningOf } from './beginning.ts'
import type { Dice } from './hostile-values.ts'
import { httpOperations } from './http-operations.ts'
import { type HttpRequest, hostileRequest, rightRequest } from './http-request.ts'
import type { Operation } from './operation.ts'
import type { Shot } from './shot.ts'
import { idsFor, type World } from './world.ts'

/** A hostile request waits for nothing: what takes longer than this is a hang. */
const waitMaxMs = 15_000
/** After this the fuzzer leaves a request that may ask the gateway to wait. */
const patienceMs = 50
/** The status of a client that has left without an answer. */
export const left = 499

/** Fires hostile requests at REST, JSON-RPC, HTTP+JSON and MCP, over a few connections that it keeps. */
export class HttpFuzzer implements AsyncDisposable {
  readonly #pool: Pool
  readonly #world: World
  readonly #dice: Dice

  constructor(url: string, world: World, dice: Dice) {
    this.#pool = new Pool(url, { connections: 8, pipelining: 1 })
    this.#world = world
    this.#dice = dice
  }

  async fire(): Promise<Shot> {
    const operation = this.#dice.pick(httpOperations)
    const ids = await idsFor(this.#world, operation)
    return this.#send(operation, hostileRequest(operation, ids, this.#world, this.#dice))
  }

  /** Sends an operation as it is. */
  async sendRight(operation: Operation): Promise<Shot> {
    return this.#send(operation, rightRequest(operation, await idsFor(this.#world, operation), this.#world))
  }

  async #send({ name: what, method, mayWait }: Operation, request: HttpRequest): Promise<Shot> {
    const { path, headers, body } = request
    const signal = AbortSignal.timeout(mayWait ? patienceMs : waitMaxMs)
    const sent = `${method} ${path} ${JSON.stringify(headers)} ${body?.toString('latin1').slice(0, 400) ?? ''}`
    const start = performance.now()
    try {
      const response = await this.#pool.request({ method: method as 'GET', path, headers, body, signal })
      response.body.on('error', () => {})
      const isStream = String(response.headers['content-type']).startsWith('text/event-stream')
      const begun = performance.now() - start
      const text = isStream ? await beginningOf(response.body) : await response.body.text()
      const ms = isStream ? begun : performance.now() - start
      // A header may reveal something too.
      return { what, sent, status: response.statusCode, answer: `${text} ${JSON.stringify(response.headers)}`, ms }
    } catch (error) {
      const { code, message } = error as { code?: string; message: string }
      // A request that the client itself refuses to send has not been sent.
      if (code === 'UND_ERR_INVALID_ARG') return { what, sent, status: 0, answer: '', ms: 0 }
      const status = mayWait && signal.aborted ? left : -1
      return { what, sent, status, answer: `${code} ${message}`, ms: performance.now() - start }
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool.destroy()
  }
}
