import type { ClusterHandlers } from './messages.ts'

/** Handlers of several parts of the gateway, called in the order in which they were added. */
export class Handlers implements ClusterHandlers {
  readonly #all: Partial<ClusterHandlers>[] = []

  add(handlers: Partial<ClusterHandlers>): void {
    this.#all.push(handlers)
  }

  grown(keys: readonly string[]): void {
    for (const one of this.#all) one.grown?.(keys)
  }

  changed(subscriptionIds: readonly string[]): void {
    for (const one of this.#all) one.changed?.(subscriptionIds)
  }

  revoked(ids: readonly string[]): void {
    for (const one of this.#all) one.revoked?.(ids)
  }

  due(): void {
    for (const one of this.#all) one.due?.()
  }

  missed(): void {
    for (const one of this.#all) one.missed?.()
  }
}
