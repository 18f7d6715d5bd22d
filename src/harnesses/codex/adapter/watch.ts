import type { AdapterContext, HarnessSession } from '../../../bridge/adapter.ts'
import type { CodexAccess } from './access.ts'
import { isAllowed } from './allowed.ts'
import { AppServer } from './app-server.ts'
import { openSocket } from './rpc/socket.ts'
import { sessionOf } from './sessions.ts'
import { type CodexThread, codexThread, threadStatus } from './thread.ts'
import { anyOf } from './wake/pause.ts'
import { openThreads, type Writers } from './writers.ts'

const lookMs = 3_000
const threadsMax = 500

type Note = (session: HarnessSession) => void
type Context = Pick<AdapterContext, 'directories'>

/**
 * Reports the state of the conversations in every server that listens, until the signal aborts: a server sends each change to every
 * initialised client. A server that starts, or starts again, is found within seconds. Sessions without a server report nothing.
 */
export async function watchCodex(
  access: CodexAccess,
  context: Context,
  noteSession: Note,
  signal: AbortSignal,
  everyMs = lookMs,
): Promise<void> {
  const watched = new Map<string, Promise<void>>()
  while (!signal.aborted) {
    for (const path of access.sockets().paths) {
      if (watched.has(path)) continue
      // What one server does costs only its own conversations.
      const watching = watchServer(path, context, noteSession, signal)
        .catch(() => {})
        .finally(() => watched.delete(path))
      watched.set(path, watching)
    }
    await anyOf(signal, [], everyMs)
  }
  await Promise.all(watched.values())
}

async function watchServer(path: string, context: Context, noteSession: Note, signal: AbortSignal): Promise<void> {
  await using server = await AppServer.greet(await openSocket(path))
  const threads = new ServerThreads(server, context, noteSession)
  await using _ = threads
  await threads.start()
  await anyOf(signal, [server.connection.closed], 2 ** 31 - 1)
  if (!signal.aborted) threads.noteAllGone()
}

/** The conversations of one server, and their states. */
class ServerThreads implements AsyncDisposable {
  readonly #server: AppServer
  readonly #context: Context
  readonly #noteSession: Note
  readonly #known = new Map<string, CodexThread>()
  /** One after the other: a later state is never overtaken. */
  #turn: Promise<void> = Promise.resolve()
  #waiting = 0
  #writers: Writers | undefined

  constructor(server: AppServer, context: Context, noteSession: Note) {
    this.#server = server
    this.#context = context
    this.#noteSession = noteSession
  }

  async start(): Promise<void> {
    this.#server.connection.listen(({ method, params }) => {
      if (method === 'thread/started') return this.#queue(() => this.#started(params.thread))
      const { threadId } = params
      if (typeof threadId !== 'string') return
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
    if (status.type === 'notLoaded') this.#known.delete(threadId)
  }

  #note(thread: CodexThread): void {
    const isLoaded = thread.status.type !== 'notLoaded'
    const seat = isLoaded ? ({ kind: 'loaded' } as const) : ({ kind: 'closed', mayOpen: false } as const)
    this.#noteSession(sessionOf(thread, seat, isLoaded ? this.#writers : undefined))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#turn
  }
}
