import type { LogEvent, NewEvent } from './event.ts'
import { RecentEvents } from './recent-events.ts'
import { SharedPages } from './shared-pages.ts'

type Listener = () => void
type Listeners = Map<string, Set<Listener>>

/**
 * The live plane: tells listeners that a log has grown, after the commit. It carries no truth: a listener that misses a
 * call finds everything in the log. What was committed here it has at hand for a while.
 */
export class LogNotifier {
  readonly recent = new RecentEvents()
  readonly pages = new SharedPages()
  readonly #listeners: Listeners = new Map()
  /** Those who listen to an agent, by the agent's project. */
  readonly #within: Listeners = new Map()
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
    if (this.#within.has(first.projectId)) {
      for (const { audience } of appended) for (const agentId of audience) keys.add(agentId)
    }
    this.#call(keys)
    this.#elsewhere(grown)
  }

  /** Says that another gateway committed something there: projects' ids and tasks' ids. Whom it concerns is not told. */
  invalidate(keys: readonly string[]): void {
    this.recent.forget(keys)
    this.#call(keys)
    for (const key of keys) callAll(this.#within, key)
  }

  /** Calls everybody: something may have been missed. */
  invalidateAll(): void {
    this.recent.forgetAll()
    this.#call(this.#listeners.keys())
  }

  /**
   * Calls `listener` for each commit that touches the key: a project's id, a task's id, or an agent's id with its project as
   * `within`. Answers the way out.
   */
  listen(key: string, listener: Listener, within?: string): () => void {
    const leave = add(this.#listeners, key, listener)
    const leaveProject = within === undefined ? undefined : add(this.#within, within, listener)
    return () => {
      leave()
      leaveProject?.()
    }
  }

  /** Whether several listen to the key. */
  isShared(key: string): boolean {
    return (this.#listeners.get(key)?.size ?? 0) > 1
  }

  #call(keys: Iterable<string>): void {
    for (const key of keys) callAll(this.#listeners, key)
  }

  get listenerCount(): number {
    let count = 0
    for (const listeners of this.#listeners.values()) count += listeners.size
    return count
  }
}

function callAll(listeners: Listeners, key: string): void {
  for (const listener of listeners.get(key) ?? []) listener()
}

function add(all: Listeners, key: string, listener: Listener): () => void {
  const listeners = all.get(key) ?? new Set()
  all.set(key, listeners)
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0 && all.get(key) === listeners) all.delete(key)
  }
}
