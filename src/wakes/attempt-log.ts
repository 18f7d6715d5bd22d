import { isShown, type Logger } from '../logger/logger.ts'
import type { AttemptFacts, Metrics } from '../metrics/metrics.ts'
import type { Attempt, DeliveryOrder } from './channel.ts'

/** The most failing subscriptions that are remembered. Beyond that, the one that has failed longest is forgotten, and logged again. */
const spellsMax = 10_000

interface Spell {
  readonly since: number
  failures: number
}

type Order = Pick<DeliveryOrder, 'subscription' | 'agentIdentity' | 'emission'>

/**
 * Counts each attempt at a wake, and writes one line for it: how many events it carries, and how long the first of them had waited. Of the
 * failures of a subscription the first is a warning and the others are for who looks for them, until an attempt succeeds.
 * Source: S1-41.
 */
export class AttemptLog {
  readonly #log: Logger
  readonly #shows: { readonly info: boolean; readonly debug: boolean }
  readonly #metrics: Pick<Metrics, 'attempted'> | undefined
  readonly #spells = new Map<string, Spell>()

  constructor(log: Logger, metrics?: Pick<Metrics, 'attempted'>) {
    this.#log = log
    this.#metrics = metrics
    this.#shows = { info: isShown(log, 'info'), debug: isShown(log, 'debug') }
  }

  /** @param nth the number of this attempt at its emission, from 1 */
  note(order: Order, attempt: Attempt, nth: number): void {
    this.#metrics?.attempted(factsOf(order, attempt))
    const { id } = order.subscription
    if (isArrival(attempt)) {
      if (this.#spells.size > 0) this.#end(order, id, attempt)
      if (this.#shows.info) this.#log.info(lineOf(order, attempt, nth), 'wake.attempted')
      return
    }
    const spell = this.#spells.get(id)
    if (spell) {
      spell.failures++
      if (this.#shows.debug) this.#log.debug(lineOf(order, attempt, nth), 'wake.attempted')
      return
    }
    this.#begin(id, attempt)
    this.#log.warn(lineOf(order, attempt, nth), 'wake.attempted')
  }

  #begin(id: string, { at }: Attempt): void {
    for (const oldest of this.#spells.keys()) {
      if (this.#spells.size < spellsMax) break
      this.#spells.delete(oldest)
    }
    this.#spells.set(id, { since: Date.parse(at), failures: 1 })
  }

  #end({ subscription, agentIdentity }: Order, id: string, { at }: Attempt): void {
    const spell = this.#spells.get(id)
    if (!this.#spells.delete(id) || !spell) return
    const { projectId: project } = subscription
    const { failures } = spell
    this.#log.info(
      {
        subscriptionId: id,
        agent: agentIdentity,
        project,
        failures,
        spellMs: Math.max(0, Date.parse(at) - spell.since),
      },
      'wake.back',
    )
  }
}

function lineOf({ subscription, agentIdentity, emission }: Order, attempt: Attempt, nth: number): object {
  return {
    subscriptionId: subscription.id,
    agent: agentIdentity,
    project: subscription.projectId,
    eventId: emission.eventId,
    eventType: emission.eventType,
    logIds: [emission.fromLogId, emission.logId],
    eventCount: emission.eventCount,
    waitedMs: Math.max(0, Date.parse(attempt.at) - emission.firstAt),
    attempt: nth,
    status: attempt.status ?? undefined,
    error: attempt.error ?? undefined,
    detail: attempt.detail,
    ms: attempt.durationMs,
  }
}

function factsOf({ subscription, emission }: Order, attempt: Attempt): AttemptFacts {
  const { status, error, durationMs, at } = attempt
  const answered = status === null ? 'failed' : `${Math.floor(status / 100)}xx`
  return {
    target: subscription.kind === 'push' ? 'push' : subscription.harnessTarget,
    outcome: isArrival(attempt) ? 'delivered' : (error ?? answered),
    eventCount: emission.eventCount,
    waitedMs: Math.max(0, Date.parse(at) + durationMs - emission.firstAt),
  }
}

/** A webhook answers with a status. The reader of a stream has none: it arrived, or it reports what is wrong. */
function isArrival({ status, error }: Attempt): boolean {
  return error === null && (status === null || (status >= 200 && status < 300))
}
