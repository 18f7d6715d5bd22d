import { memoryLimits } from '../../gateway-limits.ts'
import { stormWindowMs } from './mail-limits.ts'

/** How many old counts are checked, and perhaps forgotten, for each message: bounded, so that no message pays for all of them. */
const lookMax = 4

interface Pair {
  readonly senderId: string
  readonly recipientId: string
}

interface Count {
  readonly sent: number
  /** When the recipient's window ends, ms since the epoch. */
  readonly endsAt: number
}

/**
 * Counts what each agent has sent to each other one in the recipient's window, by mail and over A2A. In memory, on each gateway:
 * the store has only the totals, and what is forgotten is small (ADR 38). Remembers at most `pairsMax` pairs; those that were
 * silent for longest are forgotten first.
 */
export class SenderCounts {
  readonly #pairsMax: number
  readonly #counts = new Map<string, Count>()

  constructor(pairsMax: number = memoryLimits.senderCounts.max) {
    this.#pairsMax = pairsMax
  }

  get size(): number {
    return this.#counts.size
  }

  /** Returns how many messages of the sender are in the recipient's window. */
  read(pair: Pair, now: number): number {
    const count = this.#counts.get(keyOf(pair))
    return count && !isOver(count, now) ? count.sent : 0
  }

  /** Counts a message in the recipient's window, which began at `windowAt`. */
  add(pair: Pair, windowAt: number, now: number): void {
    const key = keyOf(pair)
    const known = this.#counts.get(key)
    // It moves to the end, behind the pairs that were silent for longer.
    this.#counts.delete(key)
    const endsAt = windowAt + stormWindowMs
    // A window may begin earlier than this gateway knew when it counted the first message.
    if (!known || isOver(known, now)) this.#counts.set(key, { sent: 1, endsAt })
    else this.#counts.set(key, { sent: known.sent + 1, endsAt: Math.min(known.endsAt, endsAt) })
    this.#forget(now)
  }

  #forget(now: number): void {
    let looked = 0
    for (const [key, count] of this.#counts) {
      if (++looked > lookMax) return
      if (!isOver(count, now) && this.#counts.size <= this.#pairsMax) return
      this.#counts.delete(key)
    }
  }
}

/** A window begins in the future when the clock was set back. */
function isOver({ endsAt }: Count, now: number): boolean {
  return endsAt <= now || endsAt > now + stormWindowMs
}

function keyOf({ senderId, recipientId }: Pair): string {
  return `${recipientId} ${senderId}`
}
