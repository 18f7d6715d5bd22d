/**
 * A value that is known of some objects, such as requests, and lives as long as they do. It is kept on the object itself.
 *
 * Not in a `WeakMap`: until a major collection, V8 takes the values of a `WeakMap` for reachable, whether or not their keys are. A value that
 * refers to its key, as a closure of a request does, then keeps both, and all that the request holds. Each minor collection copies
 * them, which stops the thread for several ms; a minor collection is cheap only while nearly everything in it is dead.
 */
export class Attachment<Owner extends object, Value> {
  readonly #slot: symbol

  /** @param name what the value is, for a debugger */
  constructor(name: string) {
    this.#slot = Symbol(name)
  }

  get(owner: Owner): Value | undefined {
    return (owner as Record<symbol, Value | undefined>)[this.#slot]
  }

  set(owner: Owner, value: Value): void {
    ;(owner as Record<symbol, Value>)[this.#slot] = value
  }
}
