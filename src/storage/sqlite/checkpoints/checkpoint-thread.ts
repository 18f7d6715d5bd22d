import { closeSync, openSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import type { LogSize } from './log-size.ts'
import { startThread, type ThreadData } from './start-thread.ts'

/**
 * A thread with a connection of its own that makes checkpoints. It starts with the first checkpoint. If it dies, the checkpoint was not
 * made, or not all of it: the log still has what it had, and the next checkpoint starts another thread.
 */
export class CheckpointThread {
  readonly #data: ThreadData
  readonly #start: (data: ThreadData) => Worker
  #worker: Worker | undefined

  constructor(path: string, start = startThread) {
    // Closing a descriptor of the store drops SQLite's locks on it, so this one stays open until every connection is closed.
    this.#data = { path, fd: openSync(path, 'r+') }
    this.#start = start
  }

  /** Moves what the log has now into the store. Returns the log's size after it; undefined when that was not done. Never rejects. */
  async checkpoint(): Promise<LogSize | undefined> {
    try {
      this.#worker ??= this.#begin()
    } catch {
      return undefined
    }
    const worker = this.#worker
    return new Promise((resolve) => {
      const end = (size: LogSize | null) => {
        worker.off('message', end).off('exit', died)
        resolve(size ?? undefined)
      }
      const died = () => end(null)
      worker.once('message', end).once('exit', died)
      worker.postMessage('checkpoint')
    })
  }

  /** Ends the thread, after the checkpoint that it makes. */
  async stop(): Promise<void> {
    await this.#worker?.terminate()
  }

  /** Closes the store's file. Call it after the last connection is closed. */
  closeFile(): void {
    closeSync(this.#data.fd)
  }

  #begin(): Worker {
    const worker = this.#start(this.#data)
    worker.unref()
    // 'exit' follows.
    worker.on('error', () => {})
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = undefined
    })
    return worker
  }
}
