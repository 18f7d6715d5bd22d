import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../../src/lib/json.ts'
import type { FakeCodex } from './fake-codex.ts'
import type { FakeThread } from './fake-thread.ts'

/** A connection of a client: it has greeted, or not, and is notified of the turns of some threads. */
export interface FakeClient {
  send(message: object): void
  close(): void
  capabilities?: JsonObject | undefined
  isGreeted?: boolean
  readonly threads: Set<string>
}

class Refusal extends Error {
  readonly code: number
  constructor(message: string, code = -32600) {
    super(message)
    this.code = code
  }
}

/** A process of Codex: it owns the threads that it has loaded. */
export class FakeProcess {
  readonly codex: FakeCodex
  /** A server takes what is queued through it at once; what comes over the disk it sees when it polls. */
  readonly takesAtOnce: boolean
  readonly clients = new Set<FakeClient>()
  /** The answers of the client to questions to the user. There should be none. */
  readonly answersOfClients: JsonObject[] = []

  constructor(codex: FakeCodex, takesAtOnce: boolean) {
    this.codex = codex
    this.takesAtOnce = takesAtOnce
  }

  get threads(): FakeThread[] {
    return this.codex.threads.filter(({ owner }) => owner === this)
  }

  load(thread: FakeThread): void {
    if (thread.owner && thread.owner !== this) throw new Refusal(`thread ${thread.id} already has an active writer`)
    if (thread.owner === this) return
    thread.owner = this
    this.codex.lock(thread)
    this.tellAll('thread/started', { thread: this.#view(thread) })
    thread.drain()
  }

  /** The turn that runs is cut. */
  unload(thread: FakeThread): void {
    if (thread.running) thread.running.status = 'interrupted'
    thread.owner = undefined
    this.codex.unlock(thread)
    this.tellAll('thread/status/changed', { threadId: thread.id, status: { type: 'notLoaded' } })
    this.tellAll('thread/closed', { threadId: thread.id })
  }

  tellAll(method: string, params: object): void {
    for (const client of this.clients) if (client.isGreeted) client.send({ method, params })
  }

  tellSubscribed({ id: threadId }: FakeThread, method: string, params: object): void {
    for (const client of this.clients) {
      if (client.threads.has(threadId)) client.send({ method, params: { threadId, ...params } })
    }
  }

  ask({ id: threadId }: FakeThread): void {
    const question = { id: 9_000, method: 'item/commandExecution/requestApproval', params: { threadId } }
    for (const client of this.clients) if (client.threads.has(threadId)) client.send(question)
  }

  /** To those who are subscribed. */
  tellRequest({ id, request }: FakeThread): void {
    for (const client of this.clients) if (request && client.threads.has(id)) client.send(request)
  }

  take(client: FakeClient, message: JsonObject): void {
    const { id, method, params = {} } = message
    if (typeof method !== 'string') {
      this.answersOfClients.push(message)
      const { decision } = (message.result ?? {}) as { decision?: string }
      for (const thread of this.threads) thread.answer(id, String(decision))
      return
    }
    if (id === undefined) return
    const { faults } = this.codex
    this.codex.calls.push({ method, params: params as JsonObject })
    if (faults.silent.has(method)) return
    if (faults.overloaded > 0) {
      faults.overloaded--
      client.send({ id, error: { code: -32001, message: 'Server overloaded; retry later.' } })
      return
    }
    try {
      const answer = this.#answer(client, method, params as JsonObject)
      const result = faults.lies ? faults.lies(method, answer) : answer
      if (faults.diesAfter === method) {
        delete faults.diesAfter
        this.codex.kill(this)
        return
      }
      client.send({ id, result })
      const thread = this.threads.find((one) => one.id === (params as JsonObject).threadId)
      if (method === 'thread/resume' && thread?.request) client.send(thread.request)
    } catch (error) {
      const { code = -32603, message: text } = error as Refusal
      client.send({ id, error: { code, message: text } })
    }
    this.codex.afterAnswer(this, method)
  }

  #answer(client: FakeClient, method: string, params: JsonObject): object {
    if (method === 'initialize') {
      client.capabilities = params.capabilities as JsonObject
      client.isGreeted = true
      return { userAgent: `rouse/${this.codex.version} (test)`, codexHome: this.codex.home }
    }
    if (!client.isGreeted) throw new Refusal('Not initialized')
    if (this.codex.faults.isOld && method.startsWith('thread/queue/')) {
      throw new Refusal(`Invalid request: unknown variant \`${method}\`, expected one of \`thread/start\``)
    }
    if (method.startsWith('thread/queue/') && client.capabilities?.experimentalApi !== true) {
      throw new Refusal(`${method} requires experimentalApi capability`)
    }
    switch (method) {
      case 'thread/loaded/list':
        return { data: this.threads.map(({ id }) => id), nextCursor: null }
      case 'thread/list': {
        const stored = this.codex.threads.filter(({ preview, ephemeral }) => preview !== '' && !ephemeral)
        return { data: stored.map((thread) => this.#view(thread)), nextCursor: null }
      }
      case 'hooks/list':
        return { data: [{ hooks: this.codex.hooks }] }
      case 'account/rateLimits/read':
        if (!this.codex.rateLimits) throw new Refusal('chatgpt authentication required to read rate limits')
        return { rateLimits: this.codex.rateLimits }
    }
    const thread = this.codex.threads.find(({ id }) => id === params.threadId)
    if (!thread || (thread.preview === '' && !(thread.owner === this && method === 'thread/read'))) {
      throw new Refusal(`no rollout found for thread id ${params.threadId}`, -32603)
    }
    return this.#answerAbout(thread, client, method, params)
  }

  #answerAbout(thread: FakeThread, client: FakeClient, method: string, params: JsonObject): object {
    const [input] = (params.input ?? []) as [{ text: string }?]
    const label = params.clientUserMessageId as string
    switch (method) {
      case 'thread/read':
        return { thread: this.#view(thread) }
      case 'thread/resume':
        // Whoever loads it is notified of what then runs.
        if (!thread.owner || thread.owner === this) client.threads.add(thread.id)
        this.load(thread)
        return { thread: this.#view(thread) }
      case 'thread/unsubscribe':
        client.threads.delete(thread.id)
        return { status: 'unsubscribed' }
      case 'thread/queue/add': {
        const queuedSubmission = thread.enqueue(input!.text, label)
        return { queuedSubmission: { ...queuedSubmission, responsesapiClientMetadata: null } }
      }
      case 'thread/queue/list':
        return { data: thread.queue, nextCursor: null }
      case 'thread/queue/delete': {
        const index = thread.queue.findIndex(({ id }) => id === params.queuedSubmissionId)
        if (index >= 0) thread.queue.splice(index, 1)
        return { deleted: index >= 0 }
      }
      case 'thread/turns/list': {
        // Another process reads a turn in progress as one that was interrupted.
        const statusOf = ({ status }: { status: string }) =>
          status === 'inProgress' && thread.owner !== this ? 'interrupted' : status
        const turns = thread.turns.slice(0, Number(params.limit ?? 20))
        const { itemsView = 'summary' } = params
        const data = turns.map((turn) => ({
          ...turn,
          items: itemsView === 'full' ? turn.items : turn.items.slice(0, 1),
          status: statusOf(turn),
          itemsView,
        }))
        return { data, nextCursor: null }
      }
      case 'turn/steer': {
        const running = thread.owner === this ? thread.running : undefined
        if (!running) throw new Refusal('no active turn to steer')
        if (running.id !== params.expectedTurnId) {
          throw new Refusal(`expected active turn id \`${params.expectedTurnId}\` but found \`${running.id}\``)
        }
        thread.steer(input!.text, label)
        return { turnId: running.id }
      }
    }
    throw new Refusal(`Invalid request: unknown variant \`${method}\` (${randomUUID()})`)
  }

  #view(thread: FakeThread): object {
    const { id, cwd, preview, ephemeral } = thread
    return { id, cwd, preview, ephemeral, status: thread.statusFor(this), source: 'vscode', turns: [] }
  }
}
