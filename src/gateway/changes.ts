/** Looks again at things that may have changed. */
interface Checks {
  /** Looks at the subscriptions and MCP sessions with these ids. */
  check(ids: readonly string[]): void
  /** Looks at everything: notifications may have been lost. */
  checkAll(): void
}

/** Tells the parts of this gateway which subscriptions and MCP sessions have changed, here or on another gateway. */
export class Changes implements Checks {
  readonly #parts: Checks[] = []

  listen(part: Checks): void {
    this.#parts.push(part)
  }

  check(ids: readonly string[]): void {
    for (const part of this.#parts) part.check(ids)
  }

  checkAll(): void {
    for (const part of this.#parts) part.checkAll()
  }
}
