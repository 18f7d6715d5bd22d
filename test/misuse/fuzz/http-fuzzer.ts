import { Pool } from 'undici'
import type { JsonObject } from '../../../src/lib/json.ts'
import { type Dice, hostileTexts, hostileValues } from './hostile-values.ts'
import { mcpOperations } from './mcp-operations.ts'
import { mutated } from './mutate.ts'
import { a2aOperations, type Operation, restOperations } from './operations.ts'
import type { World } from './world.ts'

/** One request and what came of it. */
export interface Shot {
  readonly what: string
  readonly sent: string
  readonly status: number
  readonly answer: string
  readonly ms: number
}

const operations = [...restOperations, ...a2aOperations, ...mcpOperations]
/** A hostile request waits for nothing: what takes longer than this is a hang. */
const waitMaxMs = 15_000

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
    const dice = this.#dice
    const operation = dice.pick(operations)
    const path = this.#path(operation)
    const { body, type } = this.#body(operation)
    const headers = this.#headers(operation, type)
    const start = performance.now()
    const signal = AbortSignal.timeout(waitMaxMs)
    const sent = `${operation.method} ${path} ${JSON.stringify(headers)} ${body?.toString('latin1').slice(0, 400) ?? ''}`
    try {
      const response = await this.#pool.request({
        method: operation.method as 'GET',
        path,
        headers,
        body: body ?? null,
        signal,
      })
      const isStream = String(response.headers['content-type']).startsWith('text/event-stream')
      // A stream goes on until its reader has enough.
      const answer = isStream ? '' : await response.body.text()
      if (isStream) response.body.destroy()
      response.body.on('error', () => {})
      return { what: operation.name, sent, status: response.statusCode, answer, ms: performance.now() - start }
    } catch (error) {
      const { code, message } = error as { code?: string; message: string }
      // What the client itself refuses to send has not been sent.
      if (code === 'UND_ERR_INVALID_ARG') return { what: operation.name, sent, status: 0, answer: '', ms: 0 }
      return { what: operation.name, sent, status: -1, answer: `${code} ${message}`, ms: performance.now() - start }
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool.destroy()
  }

  #path(operation: Operation): string {
    const dice = this.#dice
    const { own, strangers } = this.#world
    const path = operation.path.replace(/:(task|message|subscription|session)/g, (_, word: string) => {
      if (dice.chance(0.75)) return encodeURIComponent(own[word]!)
      if (dice.chance(0.5)) return encodeURIComponent(dice.pick(strangers))
      return dice.pick([
        '..',
        '%2e%2e',
        '%00',
        '%',
        '%ff',
        'a'.repeat(3_000),
        '%F0%9F',
        '..%2f..',
        'x%0aY',
        '__proto__',
        ';',
        '%ED%A0%80',
      ])
    })
    const query =
      operation.query === undefined || dice.chance(0.3) ? {} : (mutated(operation.query, dice, strangers) as JsonObject)
    if (typeof query !== 'object' || query === null) return path
    const search = Object.entries(query)
      .slice(0, 50)
      .map(([name, value]) => `${encoded(name)}=${encoded(String(typeof value === 'object' ? flat(value) : value))}`)
    return search.length === 0 ? path : `${path}?${search.join('&').slice(0, 6_000)}`
  }

  #body({ body }: Operation): { body?: Buffer; type?: string } {
    const dice = this.#dice
    if (body === undefined) return {}
    const filled = JSON.parse(
      JSON.stringify(body).replace(
        /:(task|message|subscription|session)\b/g,
        (_, word: string) => this.#world.own[word]!,
      ),
    )
    const type = dice.chance(0.95)
      ? 'application/json'
      : dice.pick([
          'text/plain',
          'application/a2a+json',
          'application/json; charset=utf-16le',
          'application/json; charset="\'',
          'multipart/form-data',
        ])
    const json = JSON.stringify(dice.chance(0.04) ? filled : mutated(filled, dice, this.#world.strangers)) ?? ''
    return { body: dice.chance(0.1) ? dice.pick(hostileTexts)(json || '{}') : Buffer.from(json), type }
  }

  #headers({ headers = {} }: Operation, type: string | undefined): Record<string, string> {
    const dice = this.#dice
    const odd = String(flat(dice.pick(hostileValues)()))
      .replace(/[^\x20-\x7e\x80-\xff]/g, '?')
      .slice(0, 500)
    const more = dice.chance(0.1)
      ? {
          [dice.pick([
            'Idempotency-Key',
            'If-Match',
            'Last-Event-ID',
            'Rouse-Session',
            'Rouse-Project',
            'A2A-Version',
            'Accept',
            'X-Forwarded-For',
          ])]: odd,
        }
      : {}
    const asOperator = { authorization: `Bearer ${this.#world.operatorKey}`, 'rouse-project': 'junk' }
    const asMallory = { authorization: `Bearer ${this.#world.mallory.key}` }
    const key = dice.chance(0.03) ? {} : dice.chance(0.1) ? asOperator : asMallory
    const filled = Object.entries(headers).map(([name, value]) => [name, value.replace(':mcp', this.#world.own.mcp!)])
    return { ...Object.fromEntries(filled), ...(type ? { 'content-type': type } : {}), ...key, ...more }
  }
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

function flat(value: unknown): unknown {
  return typeof value === 'object' ? JSON.stringify(value) : value
}
