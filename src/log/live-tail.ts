import type { LogEvent } from './event.ts'

type Listener = (events: readonly LogEvent[]) => void

/**
 * The live plane in one process: tells listeners that a project's log has grown, after the commit. It carries
 * no truth: a listener that misses a call finds everything in the log.
 */
export class LiveTail {
  readonly #listeners = new Map<string, Set<Listener>>()

  publish(events: readonly LogEvent[]): void {
    const first = events[0]
    if (!first) return
    for (const listener of this.#listeners.get(first.projectId) ?? []) listener(events)
    const tasks = new Set(events.map((event) => event.taskId))
    for (const taskId of tasks) {
      if (taskId === null) continue
      for (const listener of this.#listeners.get(taskId) ?? []) listener(events)
    }
  }

  /** Calls `listener` for each commit that touches the key, a project's id or a task's id. Answers the way out. */
  listen(key: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(key) ?? new Set()
    this.#listeners.set(key, listeners)
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(key)
    }
  }

  get listenerCount(): number {
    let count = 0
    for (const listeners of this.#listeners.values()) count += listeners.size
    return count
  }
}
