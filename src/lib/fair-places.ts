/** The payer of a place: an agent, and the project in which it acts. */
export interface Payer {
  readonly projectId: string
  readonly agentId: string
}

/** How many places there are at the same time. */
export interface PlaceBounds {
  readonly total: number
  readonly project: number
  readonly agent: number
  /** One target, over all agents. */
  readonly target: number
  readonly agentTarget: number
}

/** A part of the places, and who waits for one of them, in the order in which they are served. */
class Share {
  inFlight = 0
  readonly limit: number
  readonly parent: Share | undefined
  readonly queue = new Set<Share>()

  constructor(parent: Share | undefined, limit: number) {
    this.parent = parent
    this.limit = limit
  }

  get hasRoom(): boolean {
    return this.inFlight < this.limit
  }

  get isIdle(): boolean {
    return this.inFlight === 0 && this.queue.size === 0
  }
}

/** The share of one agent for one target. */
export class Place extends Share {
  readonly target: Share
  readonly waiting = new Set<(how: 'taken' | 'moved') => void>()
  /** True when the target has kept the agent waiting, and was not prompt since. */
  isSlow = false

  constructor(agent: Share, limit: number, target: Share) {
    super(agent, limit)
    this.target = target
  }

  override get isIdle(): boolean {
    return this.inFlight === 0 && this.waiting.size === 0
  }

  /** Ends the waits for this place. */
  moveWaiting(): void {
    const waiting = [...this.waiting]
    this.waiting.clear()
    dequeueIfNoneWaits(this)
    for (const come of waiting) come('moved')
  }
}

class Agent extends Share {
  readonly places = new Map<string, Place>()
}

class Project extends Share {
  readonly agents = new Map<string, Agent>()
}

/** How many unused shares are remembered. */
const idlePlacesMax = 8_192

/**
 * Bounds what happens at the same time: in total, for each project, each agent and each target. Whoever finds no place waits;
 * projects are served round-robin, within a project its agents, within an agent its targets.
 */
export class FairPlaces {
  readonly #bounds: PlaceBounds
  readonly #all: Share
  readonly #projects = new Map<string, Project>()
  readonly #targets = new Map<string, Share>()
  #placeCount = 0
  #sweepAt = idlePlacesMax

  constructor(bounds: PlaceBounds) {
    this.#bounds = bounds
    this.#all = new Share(undefined, bounds.total)
  }

  get inFlight(): number {
    return this.#all.inFlight
  }

  /** How many shares of targets it knows, in use or not. */
  get remembered(): number {
    return this.#placeCount
  }

  /** The place of an agent for a target, whether it is free or not. Use it before the next await. */
  placeOf({ projectId, agentId }: Payer, target: string): Place {
    const known = this.#projects.get(projectId)?.agents.get(agentId)?.places.get(target)
    return known ?? this.#addPlace(projectId, agentId, target)
  }

  /** Takes a place if one is free and nobody waits for it. */
  tryTake(place: Place): boolean {
    if (place.waiting.size > 0 || !hasRoom(place)) return false
    take(place)
    return true
  }

  /** Takes a place, after a wait for it. `moved`: `moveWaiting` has ended the wait; `stopped`: the signal has. */
  take(place: Place, signal: AbortSignal): Promise<'taken' | 'moved' | 'stopped'> {
    if (signal.aborted) return Promise.resolve('stopped')
    return new Promise((resolve) => {
      const come = (how: 'taken' | 'moved'): void => {
        signal.removeEventListener('abort', giveUp)
        resolve(how)
      }
      const giveUp = (): void => {
        place.waiting.delete(come)
        dequeueIfNoneWaits(place)
        resolve('stopped')
      }
      place.waiting.add(come)
      for (let share: Share = place; share.parent; share = share.parent) share.parent.queue.add(share)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  /** Gives the agent's place back, but not the target's: what lasts there counts elsewhere from now on. */
  lend(place: Place): void {
    for (let share = place.parent; share; share = share.parent) share.inFlight--
    this.#admitNext()
  }

  leave(place: Place, isLent = false): void {
    place.inFlight--
    place.target.inFlight--
    if (!isLent) for (let share = place.parent; share; share = share.parent) share.inFlight--
    this.#admitNext()
  }

  #admitNext(): void {
    for (let next = this.#next(this.#all); next; next = this.#next(this.#all)) admit(next)
  }

  /** The next place that is served. Every share on the way to it goes to the end of its queue. */
  #next(share: Share): Place | undefined {
    if (!share.hasRoom) return undefined
    if (share instanceof Place) return share.target.hasRoom ? share : undefined
    for (const child of share.queue) {
      const place = this.#next(child)
      if (!place) continue
      share.queue.delete(child)
      share.queue.add(child)
      return place
    }
    return undefined
  }

  #addPlace(projectId: string, agentId: string, name: string): Place {
    if (this.#placeCount >= this.#sweepAt) this.#sweep()
    const { project: projectMax, agent: agentMax, target: targetMax, agentTarget } = this.#bounds
    const project = madeIn(this.#projects, projectId, () => new Project(this.#all, projectMax))
    const agent = madeIn(project.agents, agentId, () => new Agent(project, agentMax))
    const target = madeIn(this.#targets, name, () => new Share(undefined, targetMax))
    this.#placeCount++
    return madeIn(agent.places, name, () => new Place(agent, agentTarget, target))
  }

  /** Forgets unused shares. If most are in use, they are not checked again before their number has doubled. */
  #sweep(): void {
    for (const [projectId, project] of this.#projects) {
      for (const [agentId, agent] of project.agents) {
        for (const [target, place] of agent.places) {
          if (!place.isIdle) continue
          agent.places.delete(target)
          this.#placeCount--
        }
        if (agent.places.size === 0) project.agents.delete(agentId)
      }
      if (project.agents.size === 0) this.#projects.delete(projectId)
    }
    const used = new Set<string>()
    for (const { agents } of this.#projects.values())
      for (const { places } of agents.values()) for (const target of places.keys()) used.add(target)
    for (const target of this.#targets.keys()) if (!used.has(target)) this.#targets.delete(target)
    this.#sweepAt = Math.max(idlePlacesMax, 2 * this.#placeCount)
  }
}

function hasRoom(place: Place): boolean {
  if (!place.target.hasRoom) return false
  for (let share: Share | undefined = place; share; share = share.parent) if (!share.hasRoom) return false
  return true
}

function take(place: Place): void {
  for (let share: Share | undefined = place; share; share = share.parent) share.inFlight++
  place.target.inFlight++
}

/** Lets in who waits longest for this place. */
function admit(place: Place): void {
  const [come] = place.waiting
  place.waiting.delete(come!)
  dequeueIfNoneWaits(place)
  take(place)
  come!('taken')
}

function dequeueIfNoneWaits(place: Place): void {
  if (place.waiting.size > 0) return
  let share: Share = place
  while (share.parent) {
    share.parent.queue.delete(share)
    share = share.parent
    if (share.queue.size > 0) return
  }
}

function madeIn<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
