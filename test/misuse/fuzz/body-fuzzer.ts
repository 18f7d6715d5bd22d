import { once } from 'node:events'
import { connect } from 'node:net'
import { filled, filledJson } from '../../requests/words.ts'
import { hasEvent, silenceMs } from './beginning.ts'
import { bodyForms } from './body-forms.ts'
import type { Dice } from './hostile-values.ts'
import { httpOperations } from './http-operations.ts'
import type { Operation } from './operation.ts'
import type { Shot } from './shot.ts'
import { idsFor, type World } from './world.ts'

// An operation that waits would be taken for a hang.
const operations = httpOperations.filter(({ body, mayWait }) => body !== undefined && mayWait === undefined)
/** A connection that was closed without an answer, as one that ends in the middle of its request may be. */
const closed = 444
const waitMaxMs = 5_000

/** Fires valid requests whose body is written in hostile ways, each byte for byte on a connection of its own. */
export class BodyFuzzer {
  readonly #host: string
  readonly #port: number
  readonly #world: World
  readonly #dice: Dice

  constructor(url: string, world: World, dice: Dice) {
    const { hostname, port } = new URL(url)
    this.#host = hostname
    this.#port = Number(port)
    this.#world = world
    this.#dice = dice
  }

  async fire(): Promise<Shot> {
    const operation = this.#dice.pick(operations)
    const ids = await idsFor(this.#world, operation)
    const json = Buffer.from(JSON.stringify(filledJson(operation.body, ids)))
    const { lines, bytes, isWhole } = this.#dice.pick(bodyForms)(json, this.#dice)
    const head = [...this.#head(operation, ids), ...lines, '', ''].join('\r\n')
    const start = performance.now()
    const answer = await this.#exchange(Buffer.concat([Buffer.from(head), bytes]), isWhole)
    const ms = performance.now() - start
    // The bytes after a body that is shorter than what was sent are a request too.
    const statuses = [...answer.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status))
    const status = statuses.length > 0 ? Math.max(...statuses) : isWhole ? -1 : closed
    const sent = `${head}${bytes.toString('latin1').slice(0, 200)}`
    return { what: `body of ${operation.name}`, sent, status, answer, ms }
  }

  #head({ method, path, headers = {}, as }: Operation, ids: Readonly<Record<string, string>>): string[] {
    const { operatorKey, mallory } = this.#world
    const isOperator = as === 'operator' && this.#dice.chance(0.5)
    return [
      `${method} ${filled(path, (word) => ids[word] && encodeURIComponent(ids[word]))} HTTP/1.1`,
      `Host: ${this.#host}:${this.#port}`,
      `Authorization: Bearer ${isOperator ? operatorKey : mallory.key}`,
      ...(isOperator ? ['Rouse-Project: junk'] : []),
      ...Object.entries(filledJson(headers, ids)).map(([name, value]) => `${name}: ${value}`),
      'Connection: close',
    ]
  }

  /**
   * Resolves with what has come back when the gateway has closed the connection, or when that takes too long. Who waits for no answer
   * leaves in the middle of the request.
   */
  async #exchange(bytes: Buffer, waits: boolean): Promise<string> {
    const socket = connect({ host: this.#host, port: this.#port, allowHalfOpen: true })
    let answer = ''
    socket.setEncoding('latin1').on('data', (part) => {
      answer += part
      // A stream goes on until its reader has enough.
      if (!/^content-type: text\/event-stream/im.test(answer)) return
      if (hasEvent.test(answer)) socket.destroy()
      else setTimeout(() => socket.destroy(), silenceMs)
    })
    // A reset ends a connection too.
    socket.on('error', () => {})
    socket.setTimeout(waitMaxMs, () => socket.destroy())
    socket.once('end', () => socket.destroy())
    if (waits) socket.write(bytes)
    else socket.end(bytes)
    await once(socket, 'close')
    return answer
  }
}
