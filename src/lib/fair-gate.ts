/** Who pays for a place: an agent, and the project in which it does so. */
export interface Payer {
  readonly projectId: string
  readonly agentId: string
}

/** Places at the same time. `slow` is what is left to one whose targets keep us waiting. */
interface GateBounds {
  readonly total: number
  readonly project: number
  readonly agent: { readonly max: number; readonly slow: number }
  /** One target, over all agents. */
  readonly target: number
  readonly agentTarget: { readonly max: number; readonly slow: number }
}

/** A part of the places, and who waits for one of them, in the order in which they are served. */
class Share {
  inFlight = 0
  limit: number
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
  readonly waiting = new Set<() => void>()

  constructor(agent: Share, limit: number, target: Share) {
    super(agent, limit)
    this.target = target
  }

  override get isIdle(): boolean {
    return this.inFlight === 0 && this.waiting.size === 0
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
 * projects are served round-robin, within a project its agents, within an agent its targets. A target that keeps us waiting is left with
 * few places, and so is its agent; each prompt answer gives one back. One agent's slow targets take nothing from another agent.
 */
export class FairGate {
  readonly #bounds: GateBounds
  readonly #all: Share
  readonly #projects = new Map<string, Project>()
  readonly #targets = new Map<string, Share>()
  #placeCount = 0
  #sweepAt = idlePlacesMax

  constructor(bounds: GateBounds) {
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

  /** A place when there is one; else a wait for it, which ends with undefined when the signal aborts first. */
  enter(payer: Payer, target: string, signal: AbortSignal): Place | Promise<Place | undefined> {
    const place = this.#placeOf(payer, target)
    if (place.waiting.size === 0 && hasRoom(place)) {
      take(place)
      return place
    }
    return new Promise((resolve) => {
      const come = (): void => {
        signal.removeEventListener('abort', giveUp)
        resolve(place)
      }
      const giveUp = (): void => {
        place.waiting.delete(come)
        dequeueIfNoneWaits(place)
        resolve(undefined)
      }
      if (signal.aborted) {
        resolve(undefined)
        return
      }
      place.waiting.add(come)
      for (let share: Share = place; share.parent; share = share.parent) share.parent.queue.add(share)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  /** Gives a place back. `prompt`: the target took it or refused it soon; false: it kept us waiting. */
  leave(place: Place, prompt: boolean): void {
    const agent = place.parent!
    for (let share: Share | undefined = place; share; share = share.parent) share.inFlight--
    place.target.inFlight--
    adjust(place, this.#bounds.agentTarget, prompt)
    adjust(agent, this.#bounds.agent, prompt)
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

  #placeOf({ projectId, agentId }: Payer, target: string): Place {
    const known = this.#projects.get(projectId)?.agents.get(agentId)?.places.get(target)
    return known ?? this.#addPlace(projectId, agentId, target)
  }

  #addPlace(projectId: string, agentId: string, name: string): Place {
    if (this.#placeCount >= this.#sweepAt) this.#sweep()
    const { project: projectMax, agent: agentBounds, target: targetMax, agentTarget } = this.#bounds
    const project = madeIn(this.#projects, projectId, () => new Project(this.#all, projectMax))
    const agent = madeIn(project.agents, agentId, () => new Agent(project, agentBounds.max))
    const target = madeIn(this.#targets, name, () => new Share(undefined, targetMax))
    this.#placeCount++
    return madeIn(agent.places, name, () => new Place(agent, agentTarget.max, target))
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
  come!()
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

function adjust(share: Share, { max, slow }: { max: number; slow: number }, prompt: boolean): void {
  share.limit = prompt ? Math.min(max, share.limit + 1) : Math.max(slow, share.limit >> 1)
}

function madeIn<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
