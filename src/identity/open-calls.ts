import { Problem } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { limitExceeded, limitFor, projectLimitFor } from '../registry/callers/caller-limits.ts'
import { CallExpiries } from './call-expiries.ts'

/** How many calls of each kind the agents of each project have open on this gateway. */
class ProjectCalls {
  readonly #open: Readonly<Record<Kind, Map<string, number>>> = { streams: new Map(), blockingCalls: new Map() }

  count(projectId: string, kind: Kind): number {
    return this.#open[kind].get(projectId) ?? 0
  }

  add(projectId: string, kind: Kind): void {
    this.#open[kind].set(projectId, this.count(projectId, kind) + 1)
  }

  /** Ends a call that was added. A project without open calls takes no memory. */
  remove(projectId: string, kind: Kind): void {
    const left = this.count(projectId, kind) - 1
    if (left > 0) this.#open[kind].set(projectId, left)
    else this.#open[kind].delete(projectId)
  }
}

/** A stream, or a call that waits: a send for its task, a read of the inbox for mail, a poll of events. */
export type OpenCallKind = 'streams' | 'blockingCalls'

/** An open stream or blocking call. */
export interface OpenCall extends Disposable {
  /** Aborts when the key of the call is revoked or expires, or its agent is removed. */
  readonly signal: AbortSignal
}

/** The caller of an open call. */
export type OpenCaller = Pick<Caller, 'kind' | 'id' | 'projectId' | 'keyId' | 'expiresAt' | 'limits'>

/** How many revoked ids are remembered, for requests that were authenticated before and open their stream after the revocation. */
const endedMax = 10_000

/** The open streams and calls of this gateway, by key, by agent and by project. */
export class OpenCalls implements Disposable {
  readonly #calls = new Map<string, CallsOfOne>()
  readonly #projects = new ProjectCalls()
  /** By call: the tokens of a login share a key id, and expire one by one. */
  readonly #expiries: CallExpiries
  readonly #ended = new Set<string>()

  constructor(clock: Clock) {
    this.#expiries = new CallExpiries(clock)
  }

  /**
   * Counts a call as open until it is disposed. One key may have half of the calls of its agent, so a leaked key cannot use all of
   * them. All agents of a project together have a limit too, for which calls of operators do not count. Without a kind a call ends only
   * when its key is revoked: it does not wait, or what waits in it is counted separately, and a request that began before its key expired is
   * answered. Errors: `unauthenticated` when the key was revoked or the agent removed meanwhile, `limit-exceeded` when too many are open.
   */
  open(caller: OpenCaller, kind?: OpenCallKind): OpenCall {
    const { keyId, id, projectId } = caller
    this.requireNotEnded(caller)
    const byKey = this.#callsOf(keyId, caller)
    // All operators have the same id, but each key is a separate caller.
    const byAgent = caller.kind === 'operator' ? undefined : this.#callsOf(id, caller)
    const full = kind && this.#fullness(caller, kind, byKey, byAgent)
    if (kind && full) {
      this.#dropIdle(keyId, byKey)
      if (byAgent) this.#dropIdle(id, byAgent)
      throw tooMany(kind, full)
    }
    const controller = new AbortController()
    add(byKey, controller, kind)
    if (byAgent) add(byAgent, controller, kind)
    if (byAgent && kind) this.#projects.add(projectId, kind)
    if (kind) this.#expiries.add(controller, caller.expiresAt)
    return {
      signal: controller.signal,
      [Symbol.dispose]: () => {
        if (!byKey.controllers.has(controller)) return
        this.#expiries.delete(controller)
        remove(byKey, controller, kind)
        this.#dropIdle(keyId, byKey)
        if (!byAgent) return
        remove(byAgent, controller, kind)
        if (kind) this.#projects.remove(projectId, kind)
        this.#dropIdle(id, byAgent)
      },
    }
  }

  /** Errors: `unauthenticated` when the key was revoked or the agent removed. */
  requireNotEnded({ keyId, id }: Pick<OpenCaller, 'keyId' | 'id'>): void {
    if (this.#ended.has(keyId) || this.#ended.has(id)) throw revoked()
  }

  /** Ends the open calls of these keys and agents. They may open new ones. */
  interrupt(ids: readonly string[]): void {
    for (const id of ids) {
      for (const controller of [...(this.#calls.get(id)?.controllers ?? [])]) controller.abort('revoked')
    }
  }

  /** Ends the open calls of these keys and agents, and refuses new ones. */
  end(ids: readonly string[]): void {
    for (const id of ids) {
      this.#ended.delete(id)
      this.#ended.add(id)
      for (const controller of [...(this.#calls.get(id)?.controllers ?? [])]) controller.abort('revoked')
    }
    for (const id of this.#ended) {
      if (this.#ended.size <= endedMax) break
      this.#ended.delete(id)
    }
  }

  /** Ends the calls whose key or token has expired. Other tokens of the same login keep theirs. A timer does the same in time. */
  endExpired(): void {
    this.#expiries.endExpired()
  }

  /** Stops the timer. The calls stay open. */
  [Symbol.dispose](): void {
    this.#expiries[Symbol.dispose]()
  }

  /** The keys with open calls. */
  keys(): OpenCaller[] {
    return [...this.#calls].filter(([id, { caller }]) => id === caller.keyId).map(([, { caller }]) => caller)
  }

  /** Whose calls are as many as they may be; undefined: one more may be opened. */
  #fullness(caller: OpenCaller, kind: OpenCallKind, byKey: CallsOfOne, byAgent?: CallsOfOne): Full | undefined {
    const full = fullness(limitFor(caller, kind), byKey[kind], byAgent?.[kind])
    if (full || !byAgent) return full
    const max = projectLimitFor(caller, kind)
    return max > 0 && this.#projects.count(caller.projectId, kind) >= max ? { whose: 'project', max } : undefined
  }

  #callsOf(id: string, caller: OpenCaller): CallsOfOne {
    const known = this.#calls.get(id)
    if (known) return known
    const calls: CallsOfOne = { caller, controllers: new Set(), streams: 0, blockingCalls: 0 }
    this.#calls.set(id, calls)
    return calls
  }

  #dropIdle(id: string, calls: CallsOfOne): void {
    if (calls.controllers.size === 0 && this.#calls.get(id) === calls) this.#calls.delete(id)
  }
}

/** The open calls of one key or one agent. */
interface CallsOfOne extends Record<OpenCallKind, number> {
  readonly caller: OpenCaller
  readonly controllers: Set<AbortController>
}

/** Whose calls are as many as they may be. */
interface Full {
  readonly whose: 'key' | 'agent' | 'project'
  readonly max: number
}

/** The limit that the open calls of a key or its agent have reached; undefined: none. A limit of 0 is no limit. */
function fullness(ofAgent: number, byKey: number, byAgent: number | undefined): Full | undefined {
  const ofKey = Math.ceil(ofAgent / 2)
  if (ofAgent <= 0) return undefined
  if (byKey >= ofKey) return { whose: 'key', max: ofKey }
  return byAgent !== undefined && byAgent >= ofAgent ? { whose: 'agent', max: ofAgent } : undefined
}

function add(calls: CallsOfOne, controller: AbortController, kind: OpenCallKind | undefined): void {
  calls.controllers.add(controller)
  if (kind) calls[kind] += 1
}

function remove(calls: CallsOfOne, controller: AbortController, kind: OpenCallKind | undefined): void {
  calls.controllers.delete(controller)
  if (kind) calls[kind] -= 1
}

/** The error of an open call whose key was revoked or has expired, or whose agent was removed. */
export function revoked(): Problem {
  return new Problem('unauthenticated', {
    detail:
      'The API key was revoked or has expired, or its agent was removed, while the call was open. Ask an operator for another key.',
  })
}

const refusals = {
  streams: { what: 'streams', remedy: 'close-streams' },
  blockingCalls: { what: 'calls that wait', remedy: 'wait-less' },
} as const satisfies Record<OpenCallKind, object>

function tooMany(kind: OpenCallKind, { whose, max }: Full): Problem {
  const { what, remedy } = refusals[kind]
  return limitExceeded(kind, max, `This ${whose} has ${max} open ${what}, and may have no more.`, remedy)
}

type Kind = 'streams' | 'blockingCalls'
