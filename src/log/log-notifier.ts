import type { Metrics } from '../metrics/metrics.ts'
import type { LogEvent, NewEvent } from './event.ts'
import { RecentEvents } from './recent-events.ts'
import { SharedPages } from './shared-pages.ts'

type Listener = () => void
type Listeners = Map<string, Set<Listener>>

/**
 * Notifies listeners after a commit that a log has grown. A notification carries no truth: a listener that misses one finds
 * everything in the log. Also caches the newest events that this gateway committed.
 */
export class LogNotifier {
  readonly recent = new RecentEvents()
  readonly pages = new SharedPages()
  readonly #listeners: Listeners = new Map()
  /** The listeners of agents, by the agent's project. */
  readonly #within: Listeners = new Map()
  readonly #notifyPeers: (keys: readonly string[]) => void
  readonly #metrics: Pick<Metrics, 'appended'> | undefined

  /** `notifyPeers` sends the peers the ids of the logs that have grown here. */
  constructor(notifyPeers: (keys: readonly string[]) => void = () => {}, metrics?: Pick<Metrics, 'appended'>) {
    this.#notifyPeers = notifyPeers
    this.#metrics = metrics
  }

  /** Publishes events of one project that were committed here, with their audiences as appended. */
  publish(events: readonly LogEvent[], appended: readonly Pick<NewEvent, 'audience'>[]): void {
    const first = events[0]
    if (!first) return
    this.#metrics?.appended(events)
    const keys = new Set([first.projectId])
    for (const { taskId } of events) if (taskId !== null) keys.add(taskId)
    const grown = [...keys]
    this.recent.add(events, appended)
    if (this.#within.has(first.projectId)) {
      for (const { audience } of appended) for (const agentId of audience) keys.add(agentId)
    }
    this.#call(keys)
    this.#notifyPeers(grown)
  }

  /** Notifies listeners that another gateway has committed events: ids of projects and of tasks. Their audience is not known. */
  invalidate(keys: readonly string[]): void {
    this.recent.forget(keys)
    this.#call(keys)
    for (const key of keys) callAll(this.#within, key)
  }

  /** Notifies all listeners: notifications may have been lost. */
  invalidateAll(): void {
    this.recent.forgetAll()
    this.#call(this.#listeners.keys())
  }

  /**
   * Calls `listener` for each commit that touches the key: a project's id, a task's id, or an agent's id with its project as
   * `within`. Returns an unsubscribe function.
   */
  listen(key: string, listener: Listener, within?: string): () => void {
    const leave = add(this.#listeners, key, listener)
    const leaveProject = within === undefined ? undefined : add(this.#within, within, listener)
    return () => {
      leave()
      leaveProject?.()
    }
  }

  /** True when the key has several listeners. */
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
