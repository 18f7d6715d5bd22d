/** What one caller waits for, and the work that was done for it. */
interface Line<Item> {
  readonly waiting: Item[]
  done: number
}

/** A piece counts as at least so much. */
const doneMin = 1

/**
 * Shares work between callers. Next is a piece of the one for whom least was done, so that a caller with many pieces, or long ones, waits
 * for its own. One that comes, or comes again, has no claim on what was done before it came.
 */
export class Turns<Item> {
  readonly #lines = new Map<string, Line<Item>>()
  /** What was done for the caller of the last piece before it. */
  #level = 0
  #last: Line<Item> | undefined

  add(by: string, item: Item): void {
    const line = this.#lines.get(by) ?? { waiting: [], done: 0 }
    if (line.waiting.length === 0) line.done = Math.max(line.done, this.#level)
    line.waiting.push(item)
    this.#lines.set(by, line)
  }

  /** Returns the next piece. undefined: nothing waits, and what was done is forgotten. */
  take(): Item | undefined {
    let next: Line<Item> | undefined
    for (const [by, line] of this.#lines) {
      if (line.waiting.length > 0) next = next && next.done <= line.done ? next : line
      else if (line.done <= this.#level) this.#lines.delete(by)
    }
    if (!next) {
      this.#lines.clear()
      this.#level = 0
    } else this.#level = next.done
    this.#last = next
    return next?.waiting.shift()
  }

  /** Counts the work of the piece that was taken last. */
  count(done: number): void {
    if (this.#last) this.#last.done += Math.max(done, doneMin)
  }
}
