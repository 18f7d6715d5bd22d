/** Frees the place for the next one. Calling it more than once is the same as once. */
export type Leave = () => void

interface Line {
  inside: number
  /** How many may be inside, as it was last said; 0: any number. */
  max: number
  readonly waiting: (() => void)[]
}

/** How many empty lines are kept. To delete one and make it again for each request costs more than to keep it. */
const idleMax = 1_024

/** A semaphore for each key. It has a limited number of places; callers that find none wait in the order in which they came. */
export class KeyedSemaphore {
  readonly #lines = new Map<string, Line>()

  /**
   * Returns the function that frees the place, at once or when a place is free; undefined: the line is full. With `inside` 0 there is no
   * limit. A caller that gives up while it waits must still free its place when it gets one.
   */
  enter(key: string, { inside, waiting }: { inside: number; waiting: number }): Leave | Promise<Leave> | undefined {
    const line = this.#lineOf(key)
    line.max = inside
    if (inside === 0 || line.inside < inside) {
      line.inside++
      return this.#leaveOnce(key, line)
    }
    if (waiting > 0 && line.waiting.length >= waiting) return undefined
    return new Promise((resolve) => line.waiting.push(() => resolve(this.#leaveOnce(key, line))))
  }

  #lineOf(key: string): Line {
    const known = this.#lines.get(key)
    if (known) return known
    const line: Line = { inside: 0, max: 0, waiting: [] }
    this.#lines.set(key, line)
    return line
  }

  #leaveOnce(key: string, line: Line): Leave {
    let left = false
    return () => {
      if (left) return
      left = true
      const isTooFull = line.max > 0 && line.inside > line.max
      const next = isTooFull ? undefined : line.waiting.shift()
      // The next one takes the place, unless there are fewer places than before.
      if (next) return next()
      line.inside--
      if (line.inside === 0 && this.#lines.size > idleMax) this.#lines.delete(key)
    }
  }
}
