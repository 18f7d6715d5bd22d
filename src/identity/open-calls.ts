import { Problem } from '../errors.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { limitExceeded, limitFor } from '../registry/shares/caller-limits.ts'

/** A stream, or a call that waits: a send for its task, a read of the inbox for mail. */
export type OpenCallKind = 'streams' | 'blockingCalls'

/** An open stream or blocking call. */
export interface OpenCall extends Disposable {
  /** Aborts when the key of the call is revoked, or its agent is removed. */
  readonly signal: AbortSignal
}

/** The caller of an open call. */
export type Holder = Pick<Caller, 'kind' | 'id' | 'keyId' | 'expiresAt' | 'limits'>

/** How many revoked ids are remembered, for requests that were authenticated before and open their stream after the revocation. */
const endedMax = 10_000

/** The open streams and calls of this gateway, by key and by agent. */
export class OpenCalls {
  readonly #held = new Map<string, Held>()
  readonly #ended = new Set<string>()

  /**
   * Counts a call as open until it is disposed. One key may have half of the calls of its agent, so a leaked key cannot use all of
   * them. Without a kind it only ends with its key: it does not wait, or what waits in it counts itself. Errors: `unauthenticated`
   * when the key was revoked or the agent removed meanwhile, `limit-exceeded` when too many are open.
   */
  hold(holder: Holder, kind?: OpenCallKind): OpenCall {
    const { keyId, id } = holder
    if (this.#ended.has(keyId) || this.#ended.has(id)) throw revoked()
    const byKey = this.#heldBy(keyId, holder)
    // All operators have the same id, but each key is a separate caller.
    const byAgent = holder.kind === 'operator' ? undefined : this.#heldBy(id, holder)
    const full = kind && fullness(limitFor(holder, kind), byKey[kind], byAgent?.[kind])
    if (kind && full) {
      this.#dropIdle(keyId, byKey)
      if (byAgent) this.#dropIdle(id, byAgent)
      throw tooMany(kind, full.whose, full.max)
    }
    const controller = new AbortController()
    add(byKey, controller, kind)
    if (byAgent) add(byAgent, controller, kind)
    return {
      signal: controller.signal,
      [Symbol.dispose]: () => {
        if (!byKey.controllers.has(controller)) return
        remove(byKey, controller, kind)
        this.#dropIdle(keyId, byKey)
        if (!byAgent) return
        remove(byAgent, controller, kind)
        this.#dropIdle(id, byAgent)
      },
    }
  }

  /** Ends the open calls of these keys and agents. They may open new ones. */
  interrupt(ids: readonly string[]): void {
    for (const id of ids) {
      for (const controller of [...(this.#held.get(id)?.controllers ?? [])]) controller.abort('revoked')
    }
  }

  /** Ends the open calls of these keys and agents, and refuses new ones. */
  end(ids: readonly string[]): void {
    for (const id of ids) {
      this.#ended.delete(id)
      this.#ended.add(id)
      for (const controller of [...(this.#held.get(id)?.controllers ?? [])]) controller.abort('revoked')
    }
    for (const id of this.#ended) {
      if (this.#ended.size <= endedMax) break
      this.#ended.delete(id)
    }
  }

  /** The keys with open calls. */
  keys(): Holder[] {
    return [...this.#held].filter(([id, { holder }]) => id === holder.keyId).map(([, { holder }]) => holder)
  }

  #heldBy(id: string, holder: Holder): Held {
    const known = this.#held.get(id)
    if (known) return known
    const held: Held = { holder, controllers: new Set(), streams: 0, blockingCalls: 0 }
    this.#held.set(id, held)
    return held
  }

  #dropIdle(id: string, held: Held): void {
    if (held.controllers.size === 0 && this.#held.get(id) === held) this.#held.delete(id)
  }
}

/** The open calls of one key or one agent. */
interface Held extends Record<OpenCallKind, number> {
  readonly holder: Holder
  readonly controllers: Set<AbortController>
}

/** Whose calls are as many as they may be; undefined: one more may be opened. A limit of 0 is none. */
function fullness(
  ofAgent: number,
  byKey: number,
  byAgent: number | undefined,
): { readonly whose: 'key' | 'agent'; readonly max: number } | undefined {
  const ofKey = Math.ceil(ofAgent / 2)
  if (ofAgent <= 0) return undefined
  if (byKey >= ofKey) return { whose: 'key', max: ofKey }
  return byAgent !== undefined && byAgent >= ofAgent ? { whose: 'agent', max: ofAgent } : undefined
}

function add(held: Held, controller: AbortController, kind: OpenCallKind | undefined): void {
  held.controllers.add(controller)
  if (kind) held[kind] += 1
}

function remove(held: Held, controller: AbortController, kind: OpenCallKind | undefined): void {
  held.controllers.delete(controller)
  if (kind) held[kind] -= 1
}

/** The error of an open call whose key was revoked, or whose agent was removed. */
export function revoked(): Problem {
  return new Problem('unauthenticated', {
    detail:
      'The API key was revoked or its agent was removed while the call was open. Ask an operator for another key.',
  })
}

const remedies: Record<OpenCallKind, { readonly what: string; readonly remedy: string }> = {
  streams: {
    what: 'streams',
    remedy: 'Close streams that you do not read, or follow several tasks with one `GET /v1/events`.',
  },
  blockingCalls: {
    what: 'calls that wait',
    remedy: 'Send with returnImmediately: true, and follow the task; read the inbox without waitSeconds.',
  },
}

function tooMany(kind: OpenCallKind, whose: 'key' | 'agent', max: number): Problem {
  const { what, remedy } = remedies[kind]
  return limitExceeded(kind, max, `This ${whose} has ${max} open ${what}, and may have no more. ${remedy}`)
}
