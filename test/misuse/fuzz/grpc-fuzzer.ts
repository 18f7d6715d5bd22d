import {
  CancelTaskRequest,
  GetExtendedAgentCardRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTasksRequest,
  SendMessageRequest,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk'
import { A2AService } from '@a2a-js/sdk/server/grpc'
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import type { JsonObject } from '../../../src/lib/json.ts'
import type { Dice } from './hostile-values.ts'
import type { Shot } from './http-fuzzer.ts'
import { mutated } from './mutate.ts'
import { grpcOperations } from './operations.ts'
import type { World } from './world.ts'

interface Messages {
  fromJSON(json: unknown): unknown
}

const messages: Record<string, Messages> = {
  sendMessage: SendMessageRequest,
  getTask: GetTaskRequest,
  listTasks: ListTasksRequest,
  cancelTask: CancelTaskRequest,
  createTaskPushNotificationConfig: TaskPushNotificationConfig,
  getTaskPushNotificationConfig: GetTaskPushNotificationConfigRequest,
  listTaskPushNotificationConfigs: ListTaskPushNotificationConfigsRequest,
  getExtendedAgentCard: GetExtendedAgentCardRequest,
}
const service = A2AService as unknown as Record<
  string,
  { readonly path: string; requestSerialize(value: unknown): Buffer }
>

/** What the gateway says when the fault is its own. */
const ownFaults: number[] = [
  status.UNKNOWN,
  status.INTERNAL,
  status.UNAVAILABLE,
  status.DATA_LOSS,
  status.DEADLINE_EXCEEDED,
]
/** What the library itself answers to bytes that are no message. */
const unreadable = /^Error deserializing request/

/** Fires hostile calls at the gRPC port: odd messages, and bytes that are no message. */
export class GrpcFuzzer implements Disposable {
  readonly #client: Client
  readonly #world: World
  readonly #dice: Dice

  constructor(target: string, world: World, dice: Dice) {
    this.#client = new Client(target, credentials.createInsecure())
    this.#world = world
    this.#dice = dice
  }

  /** The status is that of HTTP which the code stands for: 500 for a fault of the gateway. */
  fire(): Promise<Shot> {
    const dice = this.#dice
    const { method, params } = dice.pick(grpcOperations)
    const bytes = this.#bytes(method, params)
    const what = `gRPC ${method}`
    if (bytes === undefined) return Promise.resolve({ what, sent: '', status: 0, answer: '', ms: 0 })
    const metadata = new Metadata()
    if (dice.chance(0.97)) metadata.set('authorization', `Bearer ${this.#world.mallory.key}`)
    const same = (value: Buffer) => value
    const start = performance.now()
    return new Promise((resolve) => {
      const answered = (error: ServiceError | null, value?: Buffer) => {
        const isOurs = error !== null && ownFaults.includes(error.code) && !unreadable.test(error.details)
        const answer = error ? `${error.code} ${error.details}` : value!.toString('latin1')
        const sent = `${method} ${bytes.toString('latin1').slice(0, 400)}`
        resolve({ what, sent, status: error ? (isOurs ? 500 : 400) : 200, answer, ms: performance.now() - start })
      }
      this.#client.makeUnaryRequest(
        service[method]!.path,
        same,
        same,
        bytes,
        metadata,
        { deadline: Date.now() + 15_000 },
        answered,
      )
    })
  }

  [Symbol.dispose](): void {
    this.#client.close()
  }

  #bytes(method: string, params: JsonObject): Buffer | undefined {
    const dice = this.#dice
    const { own, strangers } = this.#world
    const filled = JSON.parse(
      JSON.stringify({ tenant: 'agents/mallory', ...params }).replaceAll('":task"', `"${own.task}"`),
    )
    try {
      const message = messages[method]!.fromJSON(mutated(filled, dice, strangers))
      const bytes = service[method]!.requestSerialize(message)
      if (dice.chance(0.15))
        for (let time = 0; time < 5; time++)
          bytes[Math.floor(dice.roll() * bytes.length)] = Math.floor(dice.roll() * 256)
      return bytes
    } catch {
      // The SDK's own codec refuses to make it.
      return undefined
    }
  }
}
