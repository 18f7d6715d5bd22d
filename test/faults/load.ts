import type { JsonObject } from '../../src/lib/json.ts'
import type { ProcessAgent, ProcessClient } from '../support/process-client.ts'
import type { ReceivedWake } from '../support/receiver.ts'
import { insist, type Trouble } from './insist.ts'

interface LoadOptions {
  /** The senders and recipients; each pair is a separate client. An undefined `from` is the operator. */
  readonly senders: readonly { from?: ProcessAgent; to: ProcessAgent }[]
  /** Between two messages of one sender. */
  readonly pauseMs: number
  /** Messages at this interval have a push config for this address. */
  readonly push?: { readonly url: string; readonly every: number }
  /** Works every second task that it is woken for. */
  readonly harness?: ProcessAgent
}

/** Clients and a harness that always retry, and that remember the answers of the gateway. */
export class Load {
  readonly #client: ProcessClient
  readonly #options: LoadOptions
  /** Task ids with the newest version that the gateway has confirmed. */
  readonly acknowledged = new Map<string, number>()
  readonly pushed = new Set<string>()
  readonly trouble: Trouble = new Map()
  /** A repeat under an Idempotency-Key that was not answered with the first task, or a move that was refused for good. */
  readonly contradictions: string[] = []
  #messageCount = 0
  #woken = new Set<string>()
  #stopping = false
  readonly #senders: Promise<void>[]
  readonly #work = new Set<Promise<void>>()

  constructor(client: ProcessClient, options: LoadOptions) {
    this.#client = client
    this.#options = options
    // Agents that send and work as fast as they can: what they may is not what these tests are about.
    const limits = { requestsPerMinute: 0, messagesPerMinute: 0, megabytesPerMinute: 0 }
    const ready = insist(this.trouble, async () => {
      const { status } = await client.call('PATCH', '/v1/projects/default', { limits })
      if (status !== 200) throw new Error(`limits: ${status}`)
    })
    this.#senders = options.senders.map((sender) => ready.then(() => this.#run(sender)))
  }

  /** The number of messages that were accepted, each under a key of its own. */
  get acceptedCount(): number {
    return this.acknowledged.size
  }

  /** For the harness: a wake says that a task is there. */
  readonly onWake = ({ body }: ReceivedWake): void => {
    const { harness } = this.#options
    const { newState, taskId, assignee } = body.payload
    if (!harness || assignee !== harness.handle || newState !== 'Submitted' || this.#woken.has(taskId)) return
    this.#woken.add(taskId)
    if (this.#woken.size % 2 === 0) return
    const work = this.#workOn(harness, taskId)
      .catch((error) => void this.contradictions.push(`task ${taskId}: ${error.message}`))
      .finally(() => this.#work.delete(work))
    this.#work.add(work)
  }

  /** Sends no more, and resolves when every message and every move has been answered. */
  async stop(): Promise<void> {
    this.#stopping = true
    await Promise.all(this.#senders)
    while (this.#work.size > 0) await Promise.all(this.#work)
  }

  async #run(sender: LoadOptions['senders'][number]): Promise<void> {
    while (!this.#stopping) {
      await this.#send(sender)
      await new Promise((resolve) => setTimeout(resolve, this.#options.pauseMs))
    }
  }

  async #send({ from, to }: LoadOptions['senders'][number]): Promise<void> {
    const count = ++this.#messageCount
    const { push } = this.#options
    const withPush = push !== undefined && count % push.every === 0
    const configuration: JsonObject = {
      returnImmediately: true,
      ...(withPush ? { taskPushNotificationConfig: { url: push.url } } : {}),
    }
    const messageId = crypto.randomUUID()
    const options = {
      messageId,
      headers: { 'idempotency-key': messageId },
      metadata: { priority: count % 3 === 0 ? 'high' : 'normal' },
      ...(from ? { key: from.key } : {}),
    }
    const send = () => insist(this.trouble, () => this.#client.send(to, `message ${count}`, configuration, options))
    const { id } = await send()
    this.acknowledged.set(id, Math.max(1, this.acknowledged.get(id) ?? 0))
    if (withPush) this.pushed.add(id)
    if (count % 10 > 0) return
    const again = await send()
    if (again.id !== id) this.contradictions.push(`${messageId} was answered with ${id}, then with ${again.id}`)
  }

  async #workOn(agent: ProcessAgent, taskId: string): Promise<void> {
    for (const to of ['working', 'completed']) await this.#move(agent, taskId, to)
  }

  async #move(agent: ProcessAgent, taskId: string, to: string): Promise<void> {
    await insist(this.trouble, async () => {
      const path = `/v1/tasks/${taskId}`
      const read = await this.#client.call('GET', path, undefined, agent)
      if (read.status !== 200) throw new Error(`read: ${read.status} ${read.body.code}`)
      // An earlier try was carried out, but its answer was lost.
      if (read.body.state === to) return void this.acknowledged.set(taskId, read.body.version)
      const move = { to, expectedVersion: read.body.version }
      const { status, body } = await this.#client.call('POST', `${path}/transitions`, move, agent)
      if (status !== 200) throw new Error(`move: ${status} ${body.code}`)
      this.acknowledged.set(taskId, body.version)
    })
  }
}

/** Returns the confirmed tasks that the gateway does not have, or has in an older version. */
export async function forgotten(client: ProcessClient, acknowledged: ReadonlyMap<string, number>): Promise<string[]> {
  const lost: string[] = []
  const rest = [...acknowledged]
  const check = async () => {
    for (let next = rest.pop(); next; next = rest.pop()) {
      const [id, version] = next
      const { status, body } = await client.call('GET', `/v1/tasks/${id}?historyLength=0`)
      if (status !== 200 || body.version < version)
        lost.push(`${id}: acknowledged version ${version}, is ${status} ${body.version}`)
    }
  }
  await Promise.all(Array.from({ length: 8 }, check))
  return lost
}
