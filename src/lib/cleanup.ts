/** Closes resources in reverse order. Node 20 has no AsyncDisposableStack. */
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

  /** Moves all resources to a new owner. This one then closes nothing. */
  move(): Cleanup {
    const owner = new Cleanup()
    owner.#steps = this.#steps
    this.#steps = []
    return owner
  }

  /** Runs every step, also after a failed one; throws the first failure at the end. */
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
