import type { AppServer } from '../app-server.ts'
import { stateOf } from '../thread.ts'

const hostMaxMs = 30 * 60_000

/**
 * Turns of closed conversations that run in child processes, until they end. No user is there to answer: a turn that asks something ends,
 * and its user finds the question in the conversation. Disposing it ends all of them.
 */
export class HostedTurns implements AsyncDisposable {
  readonly #note: (text: string) => void
  readonly #running = new Set<Promise<void>>()
  readonly #stopping = new AbortController()

  constructor(note: (text: string) => void) {
    this.#note = note
  }

  /** Keeps a process until the turn of its thread has ended. */
  keep(server: AppServer, threadId: string): void {
    const running = this.#host(server, threadId).finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  async #host(server: AppServer, threadId: string): Promise<void> {
    const why = await this.#untilOver(server, threadId)
    if (why !== undefined) this.#note(`Codex ${threadId}: ${why}. Go on with: codex resume ${threadId}`)
    await server[Symbol.asyncDispose]().catch(() => {})
  }

  async #untilOver(server: AppServer, threadId: string): Promise<string | undefined> {
    const { signal } = this.#stopping
    let timer: NodeJS.Timeout | undefined
    let stopListening = (): void => {}
    try {
      return await new Promise<string | undefined>((resolve) => {
        const stop = () => resolve('the turn was cut, because the bridge stops')
        if (signal.aborted) return stop()
        signal.addEventListener('abort', stop, { once: true })
        timer = setTimeout(() => resolve('the turn was cut, because it took too long'), hostMaxMs)
        stopListening = server.connection.listen(({ method, params, id }) => {
          if (params.threadId !== threadId) return
          if (id !== undefined) resolve('the turn asked its user for something, and was cut')
          else if (method === 'turn/completed') resolve(undefined)
        })
        void server.connection.closed.then(() => resolve('the process of the turn has ended'))
        // It may have ended before this listened.
        server.readThread(threadId).then(
          (thread) => {
            const state = thread && stateOf(thread.status)
            if (state === 'idle') resolve(undefined)
            if (state === 'waitingOnApproval') resolve('the turn asked its user for something, and was cut')
          },
          () => {},
        )
      })
    } finally {
      clearTimeout(timer)
      stopListening()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#running)
  }
}
