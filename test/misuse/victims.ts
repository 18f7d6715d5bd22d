import { Agent, request } from 'undici'
import { numberFromEnv } from '../faults/random.ts'
import type { ProcessAgent } from '../support/process-client.ts'
import type { ProcessGateway } from '../support/process-gateway.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type Instant, ThreadClock } from './thread-clock.ts'

/** How long somebody waited, in ms. */
export interface Wait {
  /** On the clock, less the time in which the machine gave the gateway or the others no processor. */
  readonly clock: number
  /** What the gateway's thread worked meanwhile, for whomever. */
  readonly thread: number
}

/** What the others feel, from the instant at which each request was meant to be sent, in no order. */
export interface Feelings {
  readonly send: Wait[]
  readonly wake: Wait[]
  readonly read: Wait[]
}

/** Sends, and as many reads, a second. */
const rate = numberFromEnv('ROUSE_MISUSE_RATE', 60)

/** Those who send and read, in turn: what one agent may do beside others is not what is measured. */
const crewSize = 10

/**
 * Honest traffic on a fixed schedule: a message to an agent that a webhook wakes, and a read, each so many times a second, whether
 * or not the ones before are answered. A request that leaves late counts from when it should have left.
 */
export class Victims implements AsyncDisposable {
  readonly #gateway: ProcessGateway
  readonly #receiver: Receiver
  readonly #crew: readonly ProcessAgent[]
  readonly #subscription: string
  readonly #clock: ThreadClock
  readonly #sentAt = new Map<string, Instant>()
  readonly #wokenAt = new Map<string, Instant>()
  readonly #dispatcher = new Agent({ connections: 64, pipelining: 1 })

  private constructor(
    gateway: ProcessGateway,
    receiver: Receiver,
    crew: readonly ProcessAgent[],
    subscription: string,
  ) {
    this.#gateway = gateway
    this.#receiver = receiver
    this.#crew = crew
    this.#subscription = subscription
    this.#clock = new ThreadClock(gateway.pid)
    receiver.respond(({ body }, res) => {
      this.#wokenAt.set(body.payload.taskId, this.#clock.now())
      res.end()
    })
  }

  static async settle(gateway: ProcessGateway): Promise<Victims> {
    const receiver = await startReceiver()
    const donna = await gateway.addAgent('@donna')
    const { id } = await gateway.subscribe(donna, receiver.url)
    // Agents like the attacker: the admin key waits in no queue.
    const crew: ProcessAgent[] = []
    for (let nth = 0; nth < crewSize; nth++) crew.push(await gateway.addAgent(`@crew-${nth}`))
    return new Victims(gateway, receiver, crew, id)
  }

  /** Sends and reads for so long. */
  async feel(seconds: number): Promise<Feelings> {
    const feelings: Feelings = { send: [], wake: [], read: [] }
    const going: Promise<void>[] = []
    const known = this.#receiver.wakes.length
    const begin = performance.now()
    const count = Math.round(seconds * rate)
    // Reads fall between the sends, as requests of different callers do.
    for (let index = 0; index < 2 * count; index++) {
      const meant = begin + (index * 500) / rate
      const left = await this.#leaveAt(meant)
      const { key } = this.#crew[(index >> 1) % crewSize]!
      going.push(index % 2 === 0 ? this.#send(feelings, left, key) : this.#read(feelings, left, key))
    }
    await Promise.all(going)
    await this.#receiver.waitFor(known + count, 30_000)
    for (const [task, left] of this.#sentAt) feelings.wake.push(since(left, this.#wokenAt.get(task)!))
    this.#sentAt.clear()
    this.#wokenAt.clear()
    return feelings
  }

  async subscriptionStatus(): Promise<string> {
    return (await this.#gateway.call('GET', `/v1/wake-subscriptions/${this.#subscription}`)).body.status
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dispatcher.destroy()
    await this.#receiver[Symbol.asyncDispose]()
  }

  /** Waits for an instant. Being late counts, unless the machine was. */
  async #leaveAt(meant: number): Promise<Instant> {
    const waited = this.#clock.ownWait()
    await until(meant)
    const now = this.#clock.now()
    const late = Math.max(0, now.at - meant - (this.#clock.ownWait() - waited))
    return { ...now, at: now.at - late }
  }

  async #send(feelings: Feelings, left: Instant, key: string): Promise<void> {
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'honest work' }] }
    const params = { message, configuration: { returnImmediately: true } }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params })
    const answer = await this.#call('POST', '/agents/donna', key, body)
    const { result } = JSON.parse(answer)
    feelings.send.push(since(left, this.#clock.now()))
    if (!result) throw new Error(`A victim's message was answered with ${answer}.`)
    this.#sentAt.set(result.task.id, left)
  }

  async #read(feelings: Feelings, left: Instant, key: string): Promise<void> {
    await this.#call('GET', '/v1/inbox?limit=5', key)
    feelings.read.push(since(left, this.#clock.now()))
  }

  async #call(method: 'GET' | 'POST', path: string, key: string, body?: string): Promise<string> {
    const headers = { authorization: `Bearer ${key}`, 'a2a-version': '1.0', 'content-type': 'application/json' }
    const options = { dispatcher: this.#dispatcher, method, headers, ...(body === undefined ? {} : { body }) }
    const answer = await request(this.#gateway.url + path, options)
    const text = await answer.body.text()
    if (answer.statusCode !== 200) throw new Error(`A victim was answered with ${answer.statusCode}: ${text}`)
    return text
  }
}

function since(begin: Instant, end: Instant): Wait {
  const clock = Math.max(0, end.at - begin.at - (end.waited - begin.waited))
  return { clock, thread: end.worked - begin.worked }
}

/** Resolves at an instant, or at once when it has passed. */
function until(instant: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, instant - performance.now())))
}
