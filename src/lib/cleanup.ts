/** What was opened, to be closed in reverse. Node 20 has no AsyncDisposableStack yet. */
export class Cleanup implements AsyncDisposable {
  #steps: (() => unknown)[] = []

  /** Closes the resource when this is closed. */
  use<T extends AsyncDisposable>(resource: T): T {
    this.defer(() => resource[Symbol.asyncDispose]())
    return resource
  }

  defer(step: () => unknown): void {
    this.#steps.push(step)
  }

  /** Hands everything to a new owner: this one closes nothing any more. */
  move(): Cleanup {
    const owner = new Cleanup()
    owner.#steps = this.#steps
    this.#steps = []
    return owner
  }

  /** Runs every step, also behind one that failed; throws the first failure at the end. */
  async [Symbol.asyncDispose](): Promise<void> {
    const failures: unknown[] = []
    for (const step of this.#steps.splice(0).reverse()) {
      try {
        await step()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}
