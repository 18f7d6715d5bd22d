import type { Clock } from './clock.ts'

/** Frees the room. Calling it more than once is the same as once. */
export type Release = () => void

export interface Room {
  /** The weight that may be inside; 0: no limit. */
  readonly max: number
  /** How many may wait. */
  readonly queued: number
}

interface Waiter {
  readonly weight: number
  readonly enter: (release: Release | undefined) => void
}

interface Line {
  inside: number
  readonly waiting: Waiter[]
}

/** A weighted semaphore for each key. Who finds no room waits in order, for a bounded time. */
export class Semaphores {
  readonly #clock: Clock
  readonly #waitMs: number
  readonly #lines = new Map<string, Line>()

  /** @param waitMs the longest wait */
  constructor(clock: Clock, waitMs: number) {
    this.#clock = clock
    this.#waitMs = waitMs
  }

  /**
   * Returns the function that frees the room, at once or when there is room; undefined where too many wait, or this one has waited for too
   * long. Alone, an entry of any weight has room. Who gives up while waiting must still free what it gets.
   */
  enter(key: string, { max, queued }: Room, weight = 1): Release | Promise<Release | undefined> | undefined {
    const line = this.#lines.get(key) ?? this.#newLine(key)
    if (max === 0 || (line.waiting.length === 0 && hasRoom(line, max, weight)))
      return this.#enter(key, line, max, weight)
    if (line.waiting.length >= queued) return undefined
    return new Promise((resolve) => {
      const cancel = this.#clock.after(this.#waitMs, () => {
        line.waiting.splice(line.waiting.indexOf(waiter), 1)
        resolve(undefined)
        this.#letIn(key, line, max)
      })
      const waiter: Waiter = {
        weight,
        enter: (release) => {
          cancel()
          resolve(release)
        },
      }
      line.waiting.push(waiter)
    })
  }

  #newLine(key: string): Line {
    const line: Line = { inside: 0, waiting: [] }
    this.#lines.set(key, line)
    return line
  }

  #enter(key: string, line: Line, max: number, weight: number): Release {
    line.inside += weight
    let isInside = true
    return () => {
      if (!isInside) return
      isInside = false
      line.inside -= weight
      this.#letIn(key, line, max)
    }
  }

  #letIn(key: string, line: Line, max: number): void {
    for (let next = line.waiting[0]; next && (max === 0 || hasRoom(line, max, next.weight)); next = line.waiting[0]) {
      line.waiting.shift()
      next.enter(this.#enter(key, line, max, next.weight))
    }
    if (line.inside === 0 && line.waiting.length === 0) this.#lines.delete(key)
  }
}

const hasRoom = ({ inside }: Line, max: number, weight: number): boolean => inside === 0 || inside + weight <= max
