import type { ReportedConversation } from '../../../../bridge/local/clients.ts'
import type { AppServer, Turn } from '../app-server.ts'
import type { Writers } from '../writers.ts'
import { anyOf } from './pause.ts'
import { findIn, type WakePlace } from './seen.ts'
import type { Way, WayOptions } from './way.ts'

interface StoredWayOptions extends WayOptions {
  /** Opens an app-server with the home of the thread: one that runs, otherwise a child process. */
  readonly openServer: () => Promise<AppServer>
  /** Returns the facts of the thread that can be known now. */
  readonly outside: () => Promise<Outside>
}

/**
 * The way over the disk, to a thread that is not loaded in any server that can be reached: the queue is in the home of Codex, and the
 * session that has the thread open looks into it every 10 s. The state of that session is unknown, except for a question that its hook has
 * reported. No child process stays between two looks.
 */
export class StoredWay implements Way {
  readonly name = 'queue'
  readonly #options: StoredWayOptions
  #server: AppServer | undefined

  constructor(options: StoredWayOptions) {
    this.#options = options
  }

  look(): Promise<WakePlace> {
    const { threadId, label, outside } = this.#options
    return this.#with(async (server) => {
      const known = await outside()
      const queue = await server.queued(threadId)
      const isQueued = findIn(label, queue, []).queuedId !== undefined
      const turns = isQueued ? [] : await server.turns(threadId, this.#options.turns)
      return { ...findIn(label, queue, turns), ...stateFromOutside(threadId, known, turns) }
    })
  }

  async enqueue(text: string): Promise<void> {
    const { threadId, label } = this.#options
    await this.#with((server) => server.enqueue(threadId, text, label))
  }

  /** It cannot be seen if a turn runs. */
  steer(): Promise<boolean> {
    return Promise.resolve(false)
  }

  takeBack(queuedId: string): Promise<boolean> {
    return this.#with((server) => server.dequeue(this.#options.threadId, queuedId))
  }

  intervalMs(sinceMs: number): number {
    const { lookMs, lookLaterMs, slowMs } = this.#options.times
    return sinceMs <= slowMs + lookMs ? lookMs : lookLaterMs
  }

  async changed(maxMs: number, signal: AbortSignal): Promise<void> {
    if (maxMs > this.#options.times.lookMs) await this.#close()
    await anyOf(signal, [], maxMs)
  }

  async #with<T>(work: (server: AppServer) => Promise<T>): Promise<T> {
    if (this.#server?.connection.isClosed) await this.#close()
    this.#server ??= await this.#options.openServer()
    return work(this.#server)
  }

  async #close(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    await server?.[Symbol.asyncDispose]()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close()
  }
}

/** The known facts of a thread whose process cannot be queried. */
interface Outside {
  /** The processes that have the threads of its home open; undefined: it cannot be determined. */
  readonly writers: Writers | undefined
  /** True when a process is known to have it open all the same. */
  readonly isOpenElsewhere: boolean
  /** The last reports of the hooks of Codex. */
  readonly reported: readonly ReportedConversation[]
}

/**
 * Returns what a thread does, as far as can be seen from outside. Only a question to its user is taken from a hook: that it is idle
 * does not say when it looks into its queue. `turns`: its last ones, as they are on the disk. Pure.
 */
function stateFromOutside(
  threadId: string,
  { writers, isOpenElsewhere, reported }: Outside,
  turns: readonly Turn[],
): Pick<WakePlace, 'state' | 'maybeClosed' | 'isSaidByHook'> {
  const writer = writers?.get(threadId)
  if (writers && !writer && !isOpenElsewhere) return { state: 'closed', maybeClosed: false }
  const maybeClosed = writers === undefined && !isOpenElsewhere
  const last = reported.find(({ conversationId }) => conversationId === threadId)
  const asks = last !== undefined && isOpenQuestion(last, writer?.pid, turns)
  return asks ? { state: 'waitingOnApproval', maybeClosed, isSaidByHook: true } : { state: 'unknown', maybeClosed }
}

/** A process that was killed tells no end of its question, and the hook that ends a turn may have met no bridge. */
function isOpenQuestion(
  { state, process, activeTurnId }: ReportedConversation,
  pid: number | undefined,
  turns: readonly Turn[],
): boolean {
  if (state !== 'waitingOnApproval') return false
  if (pid && process && process.pid !== pid) return false
  return !turns.some(({ id, status }) => id === activeTurnId && status === 'completed')
}
