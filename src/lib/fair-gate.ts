import { FairPlaces, type Payer, type Place, type PlaceBounds } from './fair-places.ts'

/** An attempt that lasts longer is slow. */
export const promptMs = 1_000
/** How often the attempts in progress are looked at. */
const lookMs = 250

/** The places of one attempt: the usual one, the one among the slow, or first the former and then both. */
export interface Ticket {
  readonly payer: Payer
  readonly target: string
  readonly since: number
  readonly usual: Place | undefined
  slow: Place | undefined
}

/**
 * Bounds attempts at targets. A target that keeps an agent waiting has places of its own, few for each agent, so that it takes none from
 * healthy ones: an attempt moves there after a second if there is room, and the next ones begin there until one is prompt.
 */
export class FairGate {
  readonly #usual: FairPlaces
  readonly #slow: FairPlaces
  /** Attempts that may have to move, in the order in which they began. */
  readonly #young = new Set<Ticket>()
  #timer: NodeJS.Timeout | undefined

  constructor({ usual, slow }: { readonly usual: PlaceBounds; readonly slow: PlaceBounds }) {
    this.#usual = new FairPlaces(usual)
    this.#slow = new FairPlaces(slow)
  }

  get inFlight(): number {
    return this.#usual.inFlight + this.#slow.inFlight
  }

  /** Returns a place when one is free; else a wait for it, which ends with undefined when the signal aborts first. */
  enter(payer: Payer, target: string, signal: AbortSignal): Ticket | Promise<Ticket | undefined> {
    const usual = this.#usual.placeOf(payer, target)
    const lane = usual.isSlow ? this.#slow : this.#usual
    const place = usual.isSlow ? lane.placeOf(payer, target) : usual
    if (lane.tryTake(place)) return this.#begin(payer, target, lane, place)
    return lane.take(place, signal).then((how) => {
      if (how === 'moved') return this.enter(payer, target, signal)
      return how === 'taken' ? this.#begin(payer, target, lane, place) : undefined
    })
  }

  /** Gives a place back. `isPrompt`: the target took it or refused it soon; false: it kept us waiting. */
  leave(ticket: Ticket, isPrompt: boolean): void {
    const { payer, target, usual, slow } = ticket
    this.#young.delete(ticket)
    this.#setSlow(payer, target, !isPrompt)
    if (usual) this.#usual.leave(usual, slow !== undefined)
    if (slow) this.#slow.leave(slow)
  }

  /** The callers that wait for the target go where it now belongs. */
  #setSlow(payer: Payer, target: string, isSlow: boolean): void {
    const usual = this.#usual.placeOf(payer, target)
    if (usual.isSlow === isSlow) return
    usual.isSlow = isSlow
    const before = isSlow ? usual : this.#slow.placeOf(payer, target)
    before.moveWaiting()
  }

  #begin(payer: Payer, target: string, lane: FairPlaces, place: Place): Ticket {
    const since = performance.now()
    if (lane === this.#slow) return { payer, target, since, usual: undefined, slow: place }
    const ticket = { payer, target, since, usual: place, slow: undefined }
    this.#young.add(ticket)
    this.#timer ??= setInterval(() => this.#look(), lookMs).unref()
    return ticket
  }

  /** Moves the attempts that have become slow, while there is room for them. */
  #look(): void {
    if (this.#young.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    const oldest = performance.now() - promptMs
    for (const ticket of this.#young) {
      if (ticket.since > oldest) return
      const place = this.#slow.placeOf(ticket.payer, ticket.target)
      if (!this.#slow.tryTake(place)) continue
      this.#young.delete(ticket)
      this.#usual.lend(ticket.usual!)
      ticket.slow = place
    }
  }
}
