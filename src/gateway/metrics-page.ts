import type { Config } from '../config/config.ts'
import type { MetricsPage } from '../fronts/front-context.ts'
import { type Clock, sleep } from '../lib/clock.ts'
import { type Exposition, writeExposition } from '../metrics/exposition.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { type GaugeValue, gauge, type Series } from '../metrics/series.ts'
import { countGates } from '../registry/recovery/gate-store.ts'
import { countLiveSessions } from '../registry/sessions/session-lists.ts'
import { countSubscriptions } from '../registry/subscriptions/subscription-counts.ts'
import type { Database } from '../storage/database.ts'
import { createCountNeeds } from './need-gauges.ts'

/** However often it is requested, the store is counted once in this time. */
const freshMs = 1_000
/** How long a scrape waits for the store, in ms. A scraper gives up after ten seconds. */
const answerMaxMs = 2_000

interface PageParts {
  readonly db: Database
  readonly clock: Clock
  readonly metrics: Metrics
  readonly engine: { readonly runCount: number }
  readonly isOverloaded: () => boolean
}

/** The gauges: those of the store are the same on every gateway of it. */
export const gauges = {
  rouse_subscriptions: { help: 'Subscriptions of the store', labels: ['status', 'target'] },
  rouse_subscriptions_due: { help: 'Subscriptions of the store that are due: the queue', labels: ['status', 'target'] },
  rouse_wake_lag_seconds: {
    help: 'How long the subscription of the store that waits longest has been due',
    labels: ['status', 'target'],
  },
  rouse_sessions_live: { help: 'Live sessions of the store', labels: [] },
  rouse_gates: { help: 'Gates of recovery in the store', labels: ['gate', 'state'] },
  rouse_needs: { help: 'What waits for a person, without what was put off', labels: ['urgency'] },
  rouse_needs_oldest_seconds: { help: 'How long the first of them has waited; 0: none waits', labels: ['urgency'] },
  rouse_store_bytes: { help: 'Bytes of the store on its disk', labels: [] },
  rouse_store_up: {
    help: '1 if the store has answered this scrape; without it the gauges of the store are left out',
    labels: [],
  },
  rouse_wake_runs: { help: 'Subscriptions that this gateway sends for now', labels: [] },
  rouse_overloaded: { help: '1 while this gateway refuses requests because it has too much work', labels: [] },
} as const satisfies Record<string, Pick<Series, 'help' | 'labels'>>

/** Opens what `/metrics` answers. Nothing is counted, and no library loaded, until it is asked. Undefined: it is off. */
export function openMetricsPage(access: Config['metrics'], parts: PageParts): MetricsPage | undefined {
  if (access === 'off') return undefined
  const countNeeds = createCountNeeds(parts.db, parts.clock)
  const write = async () => writeExposition({ ...parts.metrics.series, ...(await readGauges(parts, countNeeds)) })
  let known: { readonly at: number; readonly page: Promise<Exposition> } | undefined
  return {
    isOpen: access === 'open',
    write() {
      const now = parts.clock.now()
      if (!known || now - known.at >= freshMs || now < known.at) known = { at: now, page: write() }
      return known.page
    },
  }
}

async function readGauges(
  { db, clock, engine, isOverloaded }: PageParts,
  countNeeds: ReturnType<typeof createCountNeeds>,
): Promise<Record<string, Series>> {
  const [store, needs] = await Promise.all([inTime(clock, readStore(db, clock.now())), inTime(clock, countNeeds())])
  const values: GaugeValues = {
    ...store,
    rouse_needs: needs?.map(({ urgency, count }) => [count, urgency]) ?? [],
    rouse_needs_oldest_seconds: needs?.map(({ urgency, oldestMs }) => [oldestMs / 1_000, urgency]) ?? [],
    rouse_store_up: [[store ? 1 : 0]],
    rouse_wake_runs: [[engine.runCount]],
    rouse_overloaded: [[isOverloaded() ? 1 : 0]],
  }
  const read = Object.entries(gauges).map(([name, { help, labels }]) => {
    return [name, gauge(help, labels, values[name as keyof typeof gauges] ?? [])]
  })
  return Object.fromEntries(read)
}

/** Undefined where the store does not answer in time: the other figures are wanted then. */
async function inTime<Value>(clock: Clock, reading: Promise<Value>): Promise<Value | undefined> {
  const over = new AbortController()
  try {
    return await Promise.race([reading, sleep(clock, answerMaxMs, over.signal).then(() => undefined)])
  } catch {
    return undefined
  } finally {
    over.abort()
  }
}

async function readStore(db: Database, now: number): Promise<GaugeValues> {
  const [{ all, due }, live, gates, bytes] = await Promise.all([
    countSubscriptions(db, now),
    countLiveSessions(db),
    countGates(db),
    db.size(),
  ])
  // Where nothing is due it says so: a series that comes and goes cannot be compared.
  const waiting = all.map(({ status, target }) => {
    return due.find((one) => one.status === status && one.target === target) ?? { count: 0, since: now, status, target }
  })
  return {
    rouse_subscriptions: all.map(({ count, status, target }) => [count, status, target]),
    rouse_subscriptions_due: waiting.map(({ count, status, target }) => [count, status, target]),
    rouse_wake_lag_seconds: waiting.map(({ since, status, target }) => [(now - since) / 1_000, status, target]),
    rouse_sessions_live: [[live]],
    rouse_gates: gates.map(({ count, gate, state }) => [count, gate, state]),
    rouse_store_bytes: [[bytes]],
  }
}

type GaugeValues = Readonly<Partial<Record<keyof typeof gauges, readonly GaugeValue[]>>>
