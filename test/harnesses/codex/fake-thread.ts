import { randomUUID } from 'node:crypto'
import type { FakeProcess } from './fake-process.ts'

interface FakeItem {
  readonly type: 'userMessage'
  readonly clientId: string | null
  readonly text: string
}

interface FakeTurn {
  readonly id: string
  status: 'inProgress' | 'completed' | 'interrupted' | 'failed'
  error?: object
  readonly items: FakeItem[]
}

interface FakeSubmission {
  readonly id: string
  readonly text: string
  readonly clientUserMessageId: string
}

/** Its number counts on one connection of the server. */
interface FakeRequest {
  readonly id: number
  readonly method: string
  readonly params: { readonly itemId: string; readonly turnId: string }
}

/** A conversation, as Codex 0.169 was measured to treat it. Its model answers when a test says so, or at once. */
export class FakeThread {
  readonly id = randomUUID()
  readonly cwd: string
  preview: string
  readonly ephemeral: boolean
  owner: FakeProcess | undefined
  readonly turns: FakeTurn[] = []
  readonly queue: FakeSubmission[] = []
  /** True when the model answers at once. */
  answers = true
  flags: string[] = []
  /** The request that waits for an answer. */
  request: FakeRequest | undefined
  /** The answers that counted. */
  readonly decisions: string[] = []
  #requests = 0
  /** An interrupt stops the queue, for what comes later too, until the user's next turn has ended. */
  isPaused = false

  constructor(cwd: string, preview: string, ephemeral: boolean) {
    this.cwd = cwd
    this.preview = preview
    this.ephemeral = ephemeral
  }

  get running(): FakeTurn | undefined {
    return this.turns.find(({ status }) => status === 'inProgress')
  }

  /** The texts that the model got, over all turns. */
  get texts(): string[] {
    return this.turns.flatMap(({ items }) => items.map(({ text }) => text))
  }

  statusFor(process: FakeProcess): object {
    if (this.owner !== process) return { type: 'notLoaded' }
    if (this.running) return { type: 'active', activeFlags: this.flags }
    return { type: this.turns[0]?.status === 'failed' ? 'systemError' : 'idle' }
  }

  /** The user types a prompt. */
  prompt(text: string): FakeTurn {
    this.preview ||= text
    return this.#start({ type: 'userMessage', clientId: null, text })
  }

  /** Nothing looks at the label. */
  enqueue(text: string, clientUserMessageId: string): FakeSubmission {
    const submission = { id: randomUUID(), text, clientUserMessageId }
    this.queue.push(submission)
    this.#tell('thread/queue/changed', {})
    return submission
  }

  /** Whoever owns it begins the next one, when it is idle. */
  drain(): void {
    if (!this.owner || this.running || this.isPaused) return
    const next = this.queue.shift()
    if (!next) return
    this.#tell('thread/queue/changed', {})
    this.#start({ type: 'userMessage', clientId: next.clientUserMessageId, text: next.text })
  }

  steer(text: string, clientId: string): void {
    this.#addItem(this.running!, { type: 'userMessage', clientId, text })
  }

  ask(flag = 'waitingOnApproval'): void {
    this.flags = [flag]
    this.#tellStatus()
    this.owner?.ask(this)
  }

  /** Asks for a command, as 0.171 does: the request goes to all who are subscribed, and to those who come later. */
  askFor(params: object): void {
    this.#requests += 1
    const itemId = `item-${this.#requests}`
    const request = { ...params, threadId: this.id, turnId: this.running!.id, itemId, startedAtMs: Date.now() }
    this.request = { id: this.#requests - 1, method: 'item/commandExecution/requestApproval', params: request }
    this.flags = ['waitingOnApproval']
    this.#tellStatus()
    this.owner?.tellRequest(this)
  }

  /** The first answer counts; another one is dropped without an error. */
  answer(id: unknown, decision: string): void {
    if (!this.request || this.request.id !== id) return
    const { itemId, turnId } = this.request.params
    this.request = undefined
    this.decisions.push(decision)
    this.#tell('serverRequest/resolved', { requestId: id })
    this.flags = []
    this.#tellStatus()
    const status = decision === 'accept' ? 'completed' : 'declined'
    this.#tell('item/completed', { turnId, item: { type: 'commandExecution', id: itemId, status } })
  }

  approve(): void {
    this.flags = []
    this.#tellStatus()
    this.finish()
  }

  finish(): void {
    this.isPaused = false
    this.#end('completed')
    if (this.owner?.takesAtOnce) this.drain()
  }

  /** The model refuses. */
  fail(error: object): void {
    if (this.running) this.running.error = error
    this.#end('failed')
  }

  /** Esc, or a refused approval. What was put into the turn meanwhile is lost. */
  interrupt(): void {
    const lost = this.flags.length > 0
    this.isPaused = true
    if (lost) this.running?.items.splice(1)
    this.flags = []
    this.#end('interrupted')
  }

  #start(item: FakeItem): FakeTurn {
    const turn: FakeTurn = { id: randomUUID(), status: 'inProgress', items: [] }
    this.turns.unshift(turn)
    this.#tellStatus()
    this.#tell('turn/started', { turn: { ...turn, items: [] } })
    this.#addItem(turn, item)
    if (this.answers) this.finish()
    return turn
  }

  #addItem(turn: FakeTurn, item: FakeItem): void {
    turn.items.push(item)
    this.#tell('item/started', { turnId: turn.id, item: { ...item, id: randomUUID() } })
  }

  #end(status: 'completed' | 'interrupted' | 'failed'): void {
    const turn = this.running
    if (!turn) return
    turn.status = status
    this.#tellStatus()
    this.#tell('turn/completed', { turn: { id: turn.id, status, items: [] } })
  }

  #tell(method: string, params: object): void {
    this.owner?.tellSubscribed(this, method, params)
  }

  #tellStatus(): void {
    if (this.owner)
      this.owner.tellAll('thread/status/changed', { threadId: this.id, status: this.statusFor(this.owner) })
  }
}
