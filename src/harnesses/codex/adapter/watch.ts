import type { AdapterContext, HarnessSession, NoteAsked, UsageLimit } from '../../../bridge/adapter.ts'
import { isJsonObject } from '../../../lib/json.ts'
import type { CodexAccess } from './access.ts'
import { isAllowed } from './allowed.ts'
import { AppServer } from './app-server.ts'
import { ThreadApprovals } from './approvals.ts'
import { AccountLimits } from './limits.ts'
import { openSocket } from './rpc/socket.ts'
import { sessionOf } from './sessions.ts'
import { type CodexThread, codexThread, stateOf, threadStatus } from './thread.ts'
import { anyOf } from './wake/pause.ts'
import { openThreads, type Writers } from './writers.ts'

const lookMs = 3_000
const threadsMax = 500

/** The notes of a watch: the state of a conversation, and a limit that has ended a turn of one. */
interface CodexNotes {
  readonly session: (session: HarnessSession) => void
  readonly limit: (limit: UsageLimit, conversationId: string) => void
  /** Takes the requests of conversations to their user; undefined: nobody does. */
  readonly asked: () => NoteAsked | undefined
}
type Context = Pick<AdapterContext, 'directories' | 'now'>

/**
 * Reports the state of the conversations in every server that listens, until the signal aborts: a server sends each change to every
 * initialised client. A server that starts, or starts again, is found within seconds. Sessions without a server report nothing.
 */
export async function watchCodex(
  access: CodexAccess,
  context: Context,
  notes: CodexNotes,
  signal: AbortSignal,
  everyMs = lookMs,
): Promise<void> {
  const watched = new Map<string, Promise<void>>()
  while (!signal.aborted) {
    for (const path of access.sockets().paths) {
      if (watched.has(path)) continue
      // A failure of one server costs only its own conversations.
      const watching = watchServer(path, context, notes, signal)
        .catch(() => {})
        .finally(() => watched.delete(path))
      watched.set(path, watching)
    }
    await anyOf(signal, [], everyMs)
  }
  await Promise.all(watched.values())
}

async function watchServer(path: string, context: Context, notes: CodexNotes, signal: AbortSignal): Promise<void> {
  await using server = await AppServer.greet(await openSocket(path))
  const threads = new ServerThreads(server, context, notes)
  await using _ = threads
  await threads.start()
  await anyOf(signal, [server.connection.closed], 2 ** 31 - 1)
  if (!signal.aborted) threads.noteAllGone()
}

/** The conversations of one server, and their states. */
class ServerThreads implements AsyncDisposable {
  readonly #server: AppServer
  readonly #context: Context
  readonly #notes: CodexNotes
  readonly #limits = new AccountLimits()
  readonly #known = new Map<string, CodexThread>()
  /** One after the other: a later state is never overtaken. */
  #turn: Promise<void> = Promise.resolve()
  #waiting = 0
  #writers: Writers | undefined
  #approvals: ThreadApprovals | undefined

  constructor(server: AppServer, context: Context, notes: CodexNotes) {
    this.#server = server
    this.#context = context
    this.#notes = notes
  }

  async start(): Promise<void> {
    this.#server.connection.listen(({ method, params }) => {
      if (method === 'thread/started') return this.#queue(() => this.#started(params.thread))
      if (method === 'account/rateLimits/updated') return this.#limits.note(params.rateLimits)
      const { threadId, turn } = params
      if (typeof threadId !== 'string') return
      // A client that has not subscribed to a thread is not told of its turns: then the state of the thread says that one has failed.
      if (method === 'turn/completed' && isJsonObject(turn)) this.#queue(() => this.#failed(threadId, turn.error))
      if (method === 'thread/status/changed') this.#queue(() => this.#changed(threadId, params.status))
      else if (method === 'thread/closed') this.#queue(() => this.#changed(threadId, { type: 'notLoaded' }))
    })
    for (const thread of await this.#server.loadedThreads()) await this.#started(thread)
  }

  noteAllGone(): void {
    for (const thread of this.#known.values()) this.#note({ ...thread, status: { type: 'notLoaded' } })
  }

  #queue(work: () => Promise<void>): void {
    if (this.#waiting >= threadsMax) return
    this.#waiting++
    this.#turn = this.#turn
      .then(work)
      .catch(() => {})
      .finally(() => this.#waiting--)
  }

  async #started(said: unknown): Promise<void> {
    const { data: thread } = codexThread.safeParse(said)
    if (!thread || thread.ephemeral || !isAllowed(thread.cwd, this.#context.directories)) return
    if (this.#known.size >= threadsMax) return
    if (!this.#writers?.has(thread.id) && this.#server.home !== undefined) {
      this.#writers = await openThreads(this.#server.home)
    }
    this.#known.set(thread.id, thread)
    this.#note(thread)
  }

  async #changed(threadId: string, said: unknown): Promise<void> {
    const { data: status } = threadStatus.safeParse(said)
    if (!status) return
    const known = this.#known.get(threadId)
    // Its first prompt makes a conversation one that can be woken.
    const thread = known && known.preview !== '' ? known : await this.#server.readThread(threadId)
    if (!thread) return
    if (!known) return this.#started({ ...thread, status })
    this.#known.set(threadId, { ...thread, status })
    this.#note({ ...thread, status })
    if (status.type === 'systemError') await this.#failed(threadId, await this.#lastError(threadId))
    if (status.type === 'notLoaded') this.#known.delete(threadId)
  }

  async #lastError(threadId: string): Promise<unknown> {
    const [turn] = await this.#server.turns(threadId, { limit: 1, itemsView: 'summary' })
    return turn?.error
  }

  /** A turn has failed. If it was at a limit, what the account has used says when that is over. */
  async #failed(threadId: string, error: unknown): Promise<void> {
    const { now } = this.#context
    if (!this.#known.has(threadId) || !this.#limits.limitOf(error, now())) return
    const read = await this.#server.rateLimits().catch(() => undefined)
    this.#limits.note(read)
    const limit = this.#limits.limitOf(error, now())
    if (limit) this.#notes.limit(limit, threadId)
  }

  #note(thread: CodexThread): void {
    const isLoaded = thread.status.type !== 'notLoaded'
    const seat = isLoaded ? ({ kind: 'loaded' } as const) : ({ kind: 'closed', mayOpen: false } as const)
    this.#notes.session(sessionOf(thread, seat, isLoaded ? this.#writers : undefined))
    const noteAsked = this.#notes.asked()
    if (!noteAsked) return
    this.#approvals ??= new ThreadApprovals(this.#server, noteAsked)
    const isWaiting = stateOf(thread.status) === 'waitingOnApproval'
    this.#approvals.follow(thread.id, isWaiting).catch(() => {})
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#turn
  }
}
