import { Agent, request } from 'undici'
import { numberFromEnv } from '../faults/random.ts'
import type { ProcessAgent } from '../support/process-client.ts'
import type { ProcessGateway } from '../support/process-gateway.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

/** The time of each request of the others, in ms from the instant at which it should have left. */
export interface Waits {
  readonly send: number[]
  readonly wake: number[]
  readonly read: number[]
  readonly chunk: number[]
  readonly mail: number[]
}

/** Sends, and as many reads, a second. */
const rate = numberFromEnv('ROUSE_MISUSE_RATE', 60)
const chunksASecond = 50
const mailsAtOnce = 20
const crewSize = 10
const wakeMaxMs = 30_000

/**
 * The others: agents that send messages to one whom a webhook wakes, and read; one that streams an artifact; one that sends its mail of a
 * second at once. All keep to a schedule, whether or not they were answered.
 */
export class Others implements AsyncDisposable {
  /** Answers other than a success. */
  readonly refusals: string[] = []
  readonly #gateway: ProcessGateway
  readonly #receiver: Receiver
  readonly #crew: readonly ProcessAgent[]
  readonly #subscription: string
  readonly #sentAt = new Map<string, number>()
  readonly #wokenAt = new Map<string, number>()
  readonly #dispatcher = new Agent({ connections: 64, pipelining: 1 })

  private constructor(gateway: ProcessGateway, receiver: Receiver, crew: ProcessAgent[], subscription: string) {
    this.#gateway = gateway
    this.#receiver = receiver
    this.#crew = crew
    this.#subscription = subscription
    receiver.respond(({ body }, res) => {
      this.#wokenAt.set(body.payload.taskId, performance.now())
      res.end()
    })
  }

  static async settle(gateway: ProcessGateway): Promise<Others> {
    const receiver = await startReceiver()
    const { id } = await gateway.subscribe(await gateway.addAgent('@donna'), receiver.url)
    const crew: ProcessAgent[] = []
    for (let nth = 0; nth < crewSize; nth++) crew.push(await gateway.addAgent(`@crew-${nth}`))
    return new Others(gateway, receiver, crew, id)
  }

  /** Works for so long. */
  async work(seconds: number): Promise<Waits> {
    const waits: Waits = { send: [], wake: [], read: [], chunk: [], mail: [] }
    const [writer, mailer, ...crew] = this.#crew as [ProcessAgent, ProcessAgent, ...ProcessAgent[]]
    const { id } = await this.#gateway.send(writer, 'write a report')
    const addChunk = (append: boolean) =>
      this.#ask('POST', `/v1/tasks/${id}/artifacts`, writer, { artifact: chunk, append })
    await addChunk(false)
    await Promise.all([
      onSchedule(seconds, rate, waits.send, async (index, meant) => {
        const answer = await this.#ask('POST', '/agents/donna', crew[index % crew.length]!, sending())
        const task = /"task":\{"id":"([^"]+)"/.exec(answer)?.[1]
        if (task) this.#sentAt.set(task, meant)
        else this.refusals.push(answer)
      }),
      onSchedule(seconds, rate, waits.read, (index) =>
        this.#ask('GET', '/v1/inbox?limit=5', crew[index % crew.length]!),
      ),
      onSchedule(seconds, chunksASecond, waits.chunk, () => addChunk(true)),
      ...Array.from({ length: mailsAtOnce }, () =>
        onSchedule(seconds, 1, waits.mail, () => this.#ask('POST', '/v1/messages', mailer, mail)),
      ),
    ])
    const isAwake = () => [...this.#sentAt.keys()].every((task) => this.#wokenAt.has(task))
    await until(isAwake, (all) => all, wakeMaxMs)
    for (const [task, meant] of this.#sentAt) waits.wake.push(this.#wokenAt.get(task)! - meant)
    this.#sentAt.clear()
    this.#wokenAt.clear()
    return waits
  }

  async subscriptionStatus(): Promise<string> {
    return (await this.#gateway.call('GET', `/v1/wake-subscriptions/${this.#subscription}`)).body.status
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dispatcher.destroy()
    await this.#receiver[Symbol.asyncDispose]()
  }

  async #ask(method: 'GET' | 'POST', path: string, { key }: ProcessAgent, body?: object): Promise<string> {
    const headers = { authorization: `Bearer ${key}`, 'a2a-version': '1.0', 'content-type': 'application/json' }
    const options = { dispatcher: this.#dispatcher, method, headers, ...(body && { body: JSON.stringify(body) }) }
    const answer = await request(this.#gateway.url + path, options)
    const text = await answer.body.text()
    if (answer.statusCode >= 300) this.refusals.push(`${method} ${path}: ${answer.statusCode} ${text}`)
    return text
  }
}

const chunk = { artifactId: 'report', parts: [{ text: 'a few words more' }] }
const mail = { to: '@donna', subject: 'news', body: 'honest work' }

function sending(): object {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'honest work' }] }
  return {
    jsonrpc: '2.0',
    id: 1,
    method: 'SendMessage',
    params: { message, configuration: { returnImmediately: true } },
  }
}

/** Acts so many times a second, and notes how long each act took from when it should have begun. */
async function onSchedule(
  seconds: number,
  perSecond: number,
  waits: number[],
  act: (index: number, meant: number) => Promise<unknown>,
): Promise<void> {
  const begin = performance.now()
  const going: Promise<void>[] = []
  for (let index = 0; index < seconds * perSecond; index++) {
    const meant = begin + (index * 1_000) / perSecond
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, meant - performance.now())))
    going.push(act(index, meant).then(() => void waits.push(performance.now() - meant)))
  }
  await Promise.all(going)
}
