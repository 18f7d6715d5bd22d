import type { ProcessAgent } from '../support/process-client.ts'
import type { ProcessGateway } from '../support/process-gateway.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

/** What the others feel: ms, in no order. */
export interface Feelings {
  readonly send: number[]
  readonly wake: number[]
  readonly read: number[]
}

const everyMs = 25

/** Honest traffic at a steady rate: a message to an agent that a webhook wakes, and a read, each a few times a second. */
export class Victims implements AsyncDisposable {
  readonly #gateway: ProcessGateway
  readonly #receiver: Receiver
  readonly #donna: ProcessAgent
  readonly #subscription: string

  private constructor(gateway: ProcessGateway, receiver: Receiver, donna: ProcessAgent, subscription: string) {
    this.#gateway = gateway
    this.#receiver = receiver
    this.#donna = donna
    this.#subscription = subscription
  }

  static async settle(gateway: ProcessGateway): Promise<Victims> {
    const receiver = await startReceiver()
    const donna = await gateway.addAgent('@donna')
    const { id } = await gateway.subscribe(donna, receiver.url)
    return new Victims(gateway, receiver, donna, id)
  }

  /** Sends and reads for so long. */
  async feel(seconds: number): Promise<Feelings> {
    const feelings: Feelings = { send: [], wake: [], read: [] }
    const sentAt = new Map<string, number>()
    const known = this.#receiver.wakes.length
    const going: Promise<unknown>[] = []
    const end = performance.now() + seconds * 1_000
    for (let next = performance.now(); next < end; next += everyMs) {
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, next - performance.now())))
      going.push(this.#send(feelings, sentAt), this.#read(feelings))
    }
    await Promise.all(going)
    await this.#receiver.waitFor(known + sentAt.size, 30_000)
    for (const { body, at } of this.#receiver.wakes.slice(known)) {
      const sent = sentAt.get(body.payload.taskId)
      if (sent !== undefined) feelings.wake.push(at - sent)
    }
    return feelings
  }

  async subscriptionStatus(): Promise<string> {
    return (await this.#gateway.call('GET', `/v1/wake-subscriptions/${this.#subscription}`)).body.status
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#receiver[Symbol.asyncDispose]()
  }

  async #send(feelings: Feelings, sentAt: Map<string, number>): Promise<void> {
    const wallClock = Date.now()
    const start = performance.now()
    const { id } = await this.#gateway.send(this.#donna, 'honest work')
    feelings.send.push(performance.now() - start)
    sentAt.set(id, wallClock)
  }

  async #read(feelings: Feelings): Promise<void> {
    const start = performance.now()
    const { status } = await this.#gateway.call('GET', '/v1/inbox?limit=5', undefined, this.#donna)
    if (status !== 200) throw new Error(`A victim's read was answered with ${status}.`)
    feelings.read.push(performance.now() - start)
  }
}
