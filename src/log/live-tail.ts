import type { LogEvent, NewEvent } from './event.ts'
import { RecentLog } from './recent-log.ts'

type Listener = () => void

/**
 * The live plane: tells listeners that a log has grown, after the commit. It carries no truth: a listener that misses a
 * call finds everything in the log. What was committed here it has at hand for a while.
 */
export class LiveTail {
  readonly recent = new RecentLog()
  readonly #listeners = new Map<string, Set<Listener>>()
  readonly #elsewhere: (keys: readonly string[]) => void

  /** `elsewhere` tells the other gateways of the store what was published here. */
  constructor(elsewhere: (keys: readonly string[]) => void = () => {}) {
    this.#elsewhere = elsewhere
  }

  /** Says that these events, of one project, were committed here, as they were appended. */
  publish(events: readonly LogEvent[], appended: readonly Pick<NewEvent, 'audience'>[]): void {
    const first = events[0]
    if (!first) return
    const keys = new Set([first.projectId])
    for (const { taskId } of events) if (taskId !== null) keys.add(taskId)
    const grown = [...keys]
    this.recent.add(events, appended)
    this.#call(grown)
    this.#elsewhere(grown)
  }

  /** Says that another gateway committed something there: projects' ids and tasks' ids. */
  touch(keys: readonly string[]): void {
    this.recent.forget(keys)
    this.#call(keys)
  }

  /** Calls everybody: something may have been missed. */
  touchAll(): void {
    this.recent.forgetAll()
    this.#call([...this.#listeners.keys()])
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

  #call(keys: readonly string[]): void {
    for (const key of keys) {
      for (const listener of this.#listeners.get(key) ?? []) listener()
    }
  }

  get listenerCount(): number {
    let count = 0
    for (const listeners of this.#listeners.values()) count += listeners.size
    return count
  }
}
