import { z } from 'zod'
import type { JsonObject } from '../../../lib/json.ts'
import { readVersion } from '../../../lib/version.ts'
import { Connection } from './rpc/connection.ts'
import { refusalOf } from './rpc/refusals.ts'
import type { Transport } from './rpc/transport.ts'
import { type CodexThread, codexThread, isLoaded } from './thread.ts'

/** A wake in the queue of a thread. */
export interface QueueEntry {
  readonly id: string
  readonly clientUserMessageId?: string | null | undefined
}

/** A turn, with the messages of its user. */
export interface Turn {
  readonly id: string
  readonly status: string
  readonly items: readonly { readonly type: string; readonly clientId?: string | null | undefined }[]
  /** Of a turn that has failed. */
  readonly error?: unknown
}

/** How many turns to read. `summary`: with the prompt of each; `full`: with all that came into them, which may be much. */
export interface TurnsLook {
  readonly limit: number
  readonly itemsView: 'summary' | 'full'
}

const answers = {
  initialize: z.object({ userAgent: z.string().max(500).default(''), codexHome: z.string().max(4096).optional() }),
  threads: z.object({ data: z.array(codexThread) }),
  loaded: z.object({ data: z.array(z.string().max(200)), nextCursor: z.string().nullish() }),
  thread: z.object({ thread: codexThread }),
  added: z.object({ queuedSubmission: z.object({ id: z.string().max(200) }) }),
  queue: z.object({
    data: z.array(z.object({ id: z.string().max(200), clientUserMessageId: z.string().nullish() })),
    nextCursor: z.string().nullish(),
  }),
  deleted: z.object({ deleted: z.boolean() }),
  turns: z.object({
    data: z.array(
      z.object({
        id: z.string().max(200),
        status: z.string(),
        items: z.array(z.object({ type: z.string(), clientId: z.string().nullish() })).default([]),
        error: z.unknown().optional(),
      }),
    ),
  }),
  steered: z.object({ turnId: z.string() }),
  limits: z.object({ rateLimits: z.unknown() }),
}

const loadedMax = 200
const pagesMax = 10
const listedMax = 100

/** An app-server of Codex, in words of ours. Every call: `RpcError`, `ConnectionLost`; an answer of another form is a `ZodError`. */
export class AppServer implements AsyncDisposable {
  readonly connection: Connection
  /** `0.169.0`; undefined: it does not say. */
  readonly version: string | undefined
  /** The `CODEX_HOME` of its process. */
  readonly home: string | undefined
  /** True when it is a process of ours, and ends with its connection. */
  readonly isOwn: boolean

  private constructor(connection: Connection, said: z.infer<typeof answers.initialize>, isOwn: boolean) {
    this.connection = connection
    this.isOwn = isOwn
    this.version = /\/(\d+\.\d+\.\d+[^\s]*)/.exec(said.userAgent)?.[1]
    this.home = said.codexHome
  }

  /** Greets the server. Errors: it is none, and the transport is closed again. */
  static async greet(transport: Transport, isOwn = false): Promise<AppServer> {
    const connection = new Connection(transport)
    try {
      const params = {
        clientInfo: { name: 'rouse', title: 'Rouse', version: readVersion() },
        capabilities: { experimentalApi: true, optOutNotificationMethods: [...unread] },
      }
      const said = answers.initialize.parse(await connection.call('initialize', params))
      connection.notify('initialized')
      return new AppServer(connection, said, isOwn)
    } catch (error) {
      await connection[Symbol.asyncDispose]()
      throw error
    }
  }

  /** The threads that this server has loaded, without those that it made for itself. */
  async loadedThreads(): Promise<CodexThread[]> {
    const ids = await pages(async (cursor) => answers.loaded.parse(await this.#call('thread/loaded/list', { cursor })))
    const threads: CodexThread[] = []
    for (const id of ids.slice(0, loadedMax)) {
      const thread = await this.readThread(id)
      if (thread && !thread.ephemeral && isLoaded(thread.status)) threads.push(thread)
    }
    return threads
  }

  /** The threads on the disk that were used last, also if another process has them open. */
  async storedThreads(): Promise<CodexThread[]> {
    return answers.threads.parse(await this.#call('thread/list', { limit: listedMax, sortKey: 'updated_at' })).data
  }

  /** undefined: this server knows no such thread. */
  async readThread(threadId: string): Promise<CodexThread | undefined> {
    try {
      return answers.thread.parse(await this.#call('thread/read', { threadId })).thread
    } catch (error) {
      if (refusalOf(error) === undefined || refusalOf(error) === 'overloaded') throw error
      return undefined
    }
  }

  /** Loads a closed thread here: its queue runs, and this connection is notified of its turns. Errors: another process has it open. */
  async load(threadId: string): Promise<void> {
    await this.#call('thread/resume', { threadId, excludeTurns: true })
  }

  /** Ends the notifications of a thread: it may be unloaded. */
  async leave(threadId: string): Promise<void> {
    await this.#call('thread/unsubscribe', { threadId })
  }

  /** Adds a text to the queue of a thread, and returns its id there. `label` is not looked at: the same one twice is two turns. */
  async enqueue(threadId: string, text: string, label: string): Promise<string> {
    const params = { threadId, input: inputOf(text), clientUserMessageId: label }
    return answers.added.parse(await this.#call('thread/queue/add', params)).queuedSubmission.id
  }

  async queued(threadId: string): Promise<QueueEntry[]> {
    return pages(async (cursor) => answers.queue.parse(await this.#call('thread/queue/list', { threadId, cursor })))
  }

  /** Resolves with true when it was still there. */
  async dequeue(threadId: string, queuedSubmissionId: string): Promise<boolean> {
    return answers.deleted.parse(await this.#call('thread/queue/delete', { threadId, queuedSubmissionId })).deleted
  }

  /** The newest turns, the newest first. */
  async turns(threadId: string, { limit, itemsView }: TurnsLook): Promise<Turn[]> {
    return answers.turns.parse(await this.#call('thread/turns/list', { threadId, limit, itemsView })).data
  }

  /** Puts a text into the turn that runs. Errors: another turn runs, or none. */
  async steer(threadId: string, expectedTurnId: string, text: string, label: string): Promise<void> {
    const params = { threadId, expectedTurnId, input: inputOf(text), clientUserMessageId: label }
    answers.steered.parse(await this.#call('turn/steer', params))
  }

  /** Reads the use of the account. Without an account of ChatGPT it is an error. */
  async rateLimits(): Promise<unknown> {
    return answers.limits.parse(await this.#call('account/rateLimits/read', {})).rateLimits
  }

  hooks(cwds: readonly string[]): Promise<JsonObject> {
    return this.#call('hooks/list', { cwds })
  }

  #call(method: string, params: JsonObject): Promise<JsonObject> {
    return this.connection.call(method, params)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.connection[Symbol.asyncDispose]()
  }
}

/** The most frequent notifications, which are not needed here. */
const unread = [
  'item/agentMessage/delta',
  'item/reasoning/textDelta',
  'item/reasoning/summaryTextDelta',
  'item/commandExecution/outputDelta',
]

const inputOf = (text: string) => [{ type: 'text', text, text_elements: [] }]

async function pages<T>(
  read: (cursor: string | undefined) => Promise<{ data: T[]; nextCursor?: string | null | undefined }>,
): Promise<T[]> {
  const all: T[] = []
  let cursor: string | undefined
  for (let page = 0; page < pagesMax; page++) {
    const { data, nextCursor } = await read(cursor)
    all.push(...data)
    if (!nextCursor) return all
    cursor = nextCursor
  }
  throw new Error('a list of the app-server does not end')
}
