import { Problem } from '../errors.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { limitExceeded, limitFor } from '../registry/shares/shares.ts'

/** A stream, or a call that waits for something to happen. */
export type OpenCallKind = 'streams' | 'blockingCalls'

/** A stream or a blocking call that somebody holds open. */
export interface OpenCall extends Disposable {
  /** Aborts when the key or the agent that holds the call is taken away. */
  readonly signal: AbortSignal
}

/** Who holds a call. */
export type Holder = Pick<Caller, 'kind' | 'id' | 'keyId' | 'expiresAt' | 'limits'>

/** So many ids that were taken away are remembered, for requests that showed their key before and open their stream after. */
const endedMax = 10_000

/** What is held open on this gateway, by the key and the agent that hold it. */
export class OpenCalls {
  readonly #held = new Map<string, Held>()
  readonly #ended = new Set<string>()

  /**
   * Notes a call that stays open; disposing of it notes its end. One key may hold half of what its agent may, so that a key that
   * leaked leaves room to the others. Errors: `unauthenticated` when the key or the agent was taken
   * away meanwhile, `limit-exceeded` when too many are open.
   */
  hold(holder: Holder, kind: OpenCallKind): OpenCall {
    const { keyId, id } = holder
    if (this.#ended.has(keyId) || this.#ended.has(id)) throw revoked()
    const ofAgent = limitFor(holder, kind)
    const ofKey = Math.ceil(ofAgent / 2)
    const byKey = this.#heldBy(keyId, holder)
    if (ofKey > 0 && byKey[kind] >= ofKey) throw tooMany(kind, 'key', ofKey)
    // All operators have the same id, and nothing else in common.
    const byAgent = holder.kind === 'operator' ? undefined : this.#heldBy(id, holder)
    if (byAgent && ofAgent > 0 && byAgent[kind] >= ofAgent) {
      this.#dropIdle(keyId, byKey)
      throw tooMany(kind, 'agent', ofAgent)
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

  /** Ends everything that is open under these keys and agents. More may be opened at once. */
  interrupt(ids: readonly string[]): void {
    for (const id of ids) {
      for (const controller of [...(this.#held.get(id)?.controllers ?? [])]) controller.abort('revoked')
    }
  }

  /** Ends everything that is open under these keys and agents, and refuses to open more. */
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

  /** The keys under which something is open. */
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

/** What one key or one agent holds. */
interface Held extends Record<OpenCallKind, number> {
  readonly holder: Holder
  readonly controllers: Set<AbortController>
}

function add(held: Held, controller: AbortController, kind: OpenCallKind): void {
  held.controllers.add(controller)
  held[kind] += 1
}

function remove(held: Held, controller: AbortController, kind: OpenCallKind): void {
  held.controllers.delete(controller)
  held[kind] -= 1
}

/** What a call is told whose key was taken away while it was open. */
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
    what: 'sends that wait',
    remedy: 'Send with returnImmediately: true, and follow the task.',
  },
}

function tooMany(kind: OpenCallKind, whose: 'key' | 'agent', max: number): Problem {
  const { what, remedy } = remedies[kind]
  return limitExceeded(kind, max, `This ${whose} has ${max} open ${what}, and may have no more. ${remedy}`)
}
