import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import type { JsonObject } from '../../../src/lib/json.ts'
import { filledJson } from '../../requests/words.ts'
import { type GrpcOperation, grpcOperations } from './grpc-operations.ts'
import type { Dice } from './hostile-values.ts'
import { mutated } from './mutate.ts'
import { oddLine } from './odd-line.ts'
import type { Shot } from './shot.ts'
import { idsFor, type World } from './world.ts'

/** The statuses of the gateway when the fault is its own. */
const ownFaults: number[] = [
  status.UNKNOWN,
  status.INTERNAL,
  status.UNAVAILABLE,
  status.DATA_LOSS,
  status.DEADLINE_EXCEEDED,
]
/** The answer of the library itself to bytes that are no message. */
const unreadable = /^Error deserializing request/
const waitMaxMs = 15_000
const same = (value: Buffer): Buffer => value
const oddMetadata = [
  'a2a-tenant',
  'a2a-version',
  'a2a-extensions',
  'idempotency-key',
  'last-event-id',
  'rouse-project',
  'rouse-session',
  'x-forwarded-for',
  'x-request-id',
]

/** Fires hostile calls at the gRPC port, in both versions: odd messages, and bytes that are no message. */
export class GrpcFuzzer implements Disposable {
  readonly #client: Client
  readonly #world: World
  readonly #dice: Dice

  constructor(target: string, world: World, dice: Dice) {
    this.#client = new Client(target, credentials.createInsecure())
    this.#world = world
    this.#dice = dice
  }

  async fire(): Promise<Shot> {
    const dice = this.#dice
    const operation = dice.pick(grpcOperations)
    const right = await this.#paramsOf(operation)
    const params = dice.chance(0.1) ? right : mutated(right, dice, this.#world.strangers)
    return this.#send(operation, this.#metadata(operation), () => {
      const bytes = bytesOf(operation, params)
      if (dice.chance(0.15))
        for (let time = 0; time < 5; time++)
          bytes[Math.floor(dice.roll() * bytes.length)] = Math.floor(dice.roll() * 256)
      return bytes
    })
  }

  /** Calls an operation as it is. */
  async sendRight(operation: GrpcOperation): Promise<Shot> {
    const params = await this.#paramsOf(operation)
    const metadata = rightMetadata(operation, this.#world)
    return this.#send(operation, metadata, () => bytesOf(operation, params))
  }

  async #paramsOf({ params }: GrpcOperation): Promise<JsonObject> {
    return filledJson(params, await idsFor(this.#world, params))
  }

  /** The status is that of HTTP which the code stands for: 500 for a fault of the gateway. */
  async #send(operation: GrpcOperation, metadata: Metadata, make: () => Buffer): Promise<Shot> {
    const { path } = operation.method
    const what = `gRPC ${path}`
    let bytes: Buffer
    try {
      bytes = make()
    } catch {
      // The SDK's own codec refuses to make it.
      return { what, sent: '', status: 0, answer: '', ms: 0 }
    }
    const sent = `${path} ${JSON.stringify(metadata.getMap())} ${bytes.toString('latin1').slice(0, 400)}`
    const start = performance.now()
    const { error, value } = await this.#call(operation, bytes, metadata)
    const ms = performance.now() - start
    if (!error) return { what, sent, status: 200, answer: value?.toString('latin1') ?? '', ms }
    const isOurs = ownFaults.includes(error.code) && !unreadable.test(error.details)
    const trailers = Object.values(error.metadata?.getMap() ?? {}).map((one) => one.toString('latin1'))
    return {
      what,
      sent,
      status: isOurs ? 500 : 400,
      answer: `${error.code} ${error.details} ${trailers.join(' ')}`,
      ms,
    }
  }

  [Symbol.dispose](): void {
    this.#client.close()
  }

  /** Resolves with the answer. A stream is left with its first event: it would go on. */
  #call(
    { method: { path, responseStream } }: GrpcOperation,
    bytes: Buffer,
    metadata: Metadata,
  ): Promise<{ error?: ServiceError | null; value?: Buffer | undefined }> {
    const options = { deadline: Date.now() + waitMaxMs }
    return new Promise((resolve) => {
      if (!responseStream) {
        const answered = (error: ServiceError | null, value?: Buffer) => resolve({ error, value })
        this.#client.makeUnaryRequest(path, same, same, bytes, metadata, options, answered)
        return
      }
      const stream = this.#client.makeServerStreamRequest(path, same, same, bytes, metadata, options)
      stream.once('data', (value: Buffer) => {
        resolve({ value })
        stream.cancel()
      })
      stream.once('end', () => resolve({}))
      stream.on('error', (error) => resolve({ error: error as ServiceError }))
    })
  }

  #metadata(operation: GrpcOperation): Metadata {
    const dice = this.#dice
    const metadata = rightMetadata(operation, this.#world)
    if (dice.chance(0.03)) metadata.remove('authorization')
    if (dice.chance(0.1)) {
      const odd = dice.chance(0.3) ? dice.pick(this.#world.strangers) : oddLine(dice)
      metadata.set(dice.pick(oddMetadata), odd.replace(/[^\x20-\x7e]/g, '?'))
    }
    return metadata
  }
}

function rightMetadata({ metadata }: GrpcOperation, { mallory }: World): Metadata {
  const right = new Metadata()
  right.set('authorization', `Bearer ${mallory.key}`)
  for (const [name, value] of Object.entries(metadata)) right.set(name, value)
  return right
}

function bytesOf({ method, messageOf }: GrpcOperation, params: unknown): Buffer {
  return method.requestSerialize(messageOf(params))
}
