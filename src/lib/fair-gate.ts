import { FairPlaces, type Payer, type Place, type PlaceBounds } from './fair-places.ts'

/** An attempt that lasts longer is slow. */
export const promptMs = 1_000
/** How often the attempts in progress are looked at. */
const lookMs = 250

/** A place that was taken. */
export interface Ticket {
  readonly payer: Payer
  readonly target: string
  readonly since: number
  lane: FairPlaces
  place: Place
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
    const lane = this.#laneOf(payer, target)
    const place = lane.placeOf(payer, target)
    if (lane.tryTake(place)) return this.#begin(payer, target, lane, place)
    return lane.take(place, signal).then((how) => {
      if (how === 'moved') return this.enter(payer, target, signal)
      return how === 'taken' ? this.#begin(payer, target, lane, place) : undefined
    })
  }

  /** Gives a place back. `isPrompt`: the target took it or refused it soon; false: it kept us waiting. */
  leave(ticket: Ticket, isPrompt: boolean): void {
    const { payer, target, lane, place } = ticket
    this.#young.delete(ticket)
    const usual = this.#usual.placeOf(payer, target)
    if (usual.isSlow === isPrompt) {
      const before = this.#laneOf(payer, target).placeOf(payer, target)
      usual.isSlow = !isPrompt
      before.moveWaiting()
    }
    lane.leave(place)
  }

  #laneOf(payer: Payer, target: string): FairPlaces {
    return this.#usual.placeOf(payer, target).isSlow ? this.#slow : this.#usual
  }

  #begin(payer: Payer, target: string, lane: FairPlaces, place: Place): Ticket {
    const ticket = { payer, target, since: performance.now(), lane, place }
    if (lane === this.#usual) {
      this.#young.add(ticket)
      this.#timer ??= setInterval(() => this.#look(), lookMs).unref()
    }
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
      this.#usual.leave(ticket.place)
      ticket.lane = this.#slow
      ticket.place = place
    }
  }
}
