import type { Clock } from './clock.ts'

/** Frees the room, or all of it but `kept`. A room that is free already stays so. */
export type Release = (kept?: number) => void

export interface Room {
  /** The weight that may be inside; 0: no limit. */
  readonly max: number
  /** How many may wait; Infinity: any number. */
  readonly queued: number
}

/** A line to enter, and the error for an entry that found no room in it. */
export interface Entry {
  readonly key: string
  readonly room: Room
  readonly refusal: () => Error
}

interface Waiter {
  readonly weight: number
  readonly enter: (release: Release | undefined) => void
}

interface Line {
  inside: number
  readonly waiting: Waiter[]
}

/** How many empty lines are kept. To delete one and make it again for each request costs more than to keep it. */
const idleMax = 1_024

/** A weighted semaphore for each key. An entry without room waits in order. */
export class Semaphores {
  readonly #bound: { readonly clock: Clock; readonly waitMs: number } | undefined
  readonly #lines = new Map<string, Line>()

  /** @param bound the longest wait, in ms; undefined: no wait ends without room */
  constructor(bound?: { readonly clock: Clock; readonly waitMs: number }) {
    this.#bound = bound
  }

  /**
   * Returns the function that frees the room, at once or when there is room; undefined where too many wait, or this one has waited for too
   * long. Alone, an entry of any weight has room. A caller that gives up while it waits must still free what it gets.
   */
  enter(key: string, { max, queued }: Room, weight = 1): Release | Promise<Release | undefined> | undefined {
    const line = this.#lines.get(key) ?? this.#newLine(key)
    if (max === 0 || (line.waiting.length === 0 && hasRoom(line, max, weight)))
      return this.#enter(key, line, max, weight)
    if (line.waiting.length >= queued) return undefined
    return new Promise((resolve) => {
      const giveUp = (): void => {
        line.waiting.splice(line.waiting.indexOf(waiter), 1)
        resolve(undefined)
        this.#letIn(key, line, max)
      }
      const cancel = this.#bound?.clock.after(this.#bound.waitMs, giveUp)
      const waiter: Waiter = {
        weight,
        enter: (release) => {
          cancel?.()
          resolve(release)
        },
      }
      line.waiting.push(waiter)
    })
  }

  /** Enters one line after the other. Leaves all of them and throws the refusal of the first one without room. */
  enterAll(entries: readonly Entry[], weight = 1): Release | Promise<Release> {
    return this.#hasRoomInAll(entries, weight) ? this.#enterEach(entries, weight) : this.#enterInOrder(entries, weight)
  }

  async #enterInOrder(entries: readonly Entry[], weight: number): Promise<Release> {
    const held: Release[] = []
    const release: Release = (kept) => {
      for (const leave of held) leave(kept)
    }
    for (const { key, room, refusal } of entries) {
      const leave = await this.enter(key, room, weight)
      if (!leave) {
        release()
        throw refusal()
      }
      held.push(leave)
    }
    return release
  }

  #hasRoomInAll(entries: readonly Entry[], weight: number): boolean {
    for (let at = 0; at < entries.length; at++) {
      const { key, room } = entries[at]!
      const line = this.#lines.get(key)
      if (room.max !== 0 && line && (line.waiting.length > 0 || !hasRoom(line, room.max, weight))) return false
    }
    return true
  }

  /** Enters lines that have room, with one function for all of them: nearly every request comes this way. */
  #enterEach(entries: readonly Entry[], weight: number): Release {
    for (let at = 0; at < entries.length; at++) {
      const { key } = entries[at]!
      const line = this.#lines.get(key) ?? this.#newLine(key)
      line.inside += weight
    }
    let held = weight
    return (kept = 0) => {
      if (kept >= held) return
      const left = held - kept
      held = kept
      for (let at = 0; at < entries.length; at++) {
        const { key, room } = entries[at]!
        const line = this.#lines.get(key)!
        line.inside -= left
        this.#letIn(key, line, room.max)
      }
    }
  }

  #newLine(key: string): Line {
    const line: Line = { inside: 0, waiting: [] }
    this.#lines.set(key, line)
    return line
  }

  #enter(key: string, line: Line, max: number, weight: number): Release {
    line.inside += weight
    let held = weight
    return (kept = 0) => {
      if (kept >= held) return
      line.inside -= held - kept
      held = kept
      this.#letIn(key, line, max)
    }
  }

  #letIn(key: string, line: Line, max: number): void {
    for (let next = line.waiting[0]; next && (max === 0 || hasRoom(line, max, next.weight)); next = line.waiting[0]) {
      line.waiting.shift()
      next.enter(this.#enter(key, line, max, next.weight))
    }
    const isIdle = line.inside === 0 && line.waiting.length === 0
    if (isIdle && this.#lines.size > idleMax) this.#lines.delete(key)
  }
}

const hasRoom = ({ inside }: Line, max: number, weight: number): boolean => inside === 0 || inside + weight <= max
