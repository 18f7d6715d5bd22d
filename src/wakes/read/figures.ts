import type { Clock } from '../../lib/clock.ts'
import { ulidFloor, ulidTime } from '../../lib/ids.ts'
import type { Reader } from '../../storage/database.ts'
import { readOutcomes, readOwners, type WakeOutcome } from '../store/figure-store.ts'

const minuteMs = 60_000
export const minutesMax = 60
/** However often it is asked, the store is read once in this time. */
const freshMs = 10_000
/** The most deliveries that are read, of all projects: the newest. */
const readMax = 100_000
/** Entries of the index that one statement reads: a ms or two. */
const windowSize = 500

/** Wakes, and how long they took from their newest event to the acknowledgement. */
interface Figure {
  delivered: number
  failed: number
  /** Those that are still tried. */
  open: number
  readonly tookMs: number[]
}

/** The figures of a minute, which begins at `at`, ms since the epoch. */
interface MinuteFigure extends Readonly<Omit<Figure, 'tookMs'>> {
  readonly at: number
  /** In ms; null: none has arrived. */
  readonly p50Ms: number | null
  readonly p95Ms: number | null
}

interface WakeFigures {
  /** The beginning of the first minute of which every wake was counted, ms since the epoch. */
  readonly from: number
  readonly minutes: readonly MinuteFigure[]
  readonly totals: Omit<MinuteFigure, 'at'>
}

/** The owner of the wakes that are counted: an agent, or a project. */
type Owner = { readonly agentId: string } | { readonly projectId: string }

export type ReadFigures = (of: Owner, minutes: number) => Promise<WakeFigures>

/**
 * Makes the reader of figures: the wakes of each of the last minutes, by the minute of their newest event. One reading of the store is for everybody who
 * asks within ten seconds.
 */
export function createReadFigures({ db, clock }: { readonly db: Reader; readonly clock: Clock }): ReadFigures {
  let known: { readonly at: number; readonly reading: Promise<Reading> } | undefined
  return async (of, minutes) => {
    const now = clock.now()
    if (!known || now - known.at >= freshMs || now < known.at) {
      const reading = readAll(db, now)
      known = { at: now, reading }
      reading.catch(() => {
        known = undefined
      })
    }
    return figuresOf(await known.reading, of, minutes)
  }
}

interface Reading {
  /** The beginning of the current minute. */
  readonly last: number
  readonly from: number
  readonly subscriptions: readonly {
    readonly agentId: string
    readonly projectId: string
    /** By their beginning. */
    readonly minutes: ReadonlyMap<number, Figure>
  }[]
}

async function readAll(db: Reader, now: number): Promise<Reading> {
  const last = minuteOf(now)
  let from = last - (minutesMax - 1) * minuteMs
  const found = new Map<string, Map<number, Figure>>()
  const floor = ulidFloor(from)
  let before = 'Z'
  for (let read = windowSize; before !== ''; read += windowSize) {
    const rows = await readOutcomes(db, { before, from: floor, limit: windowSize })
    for (const row of rows) add(found, row)
    before = rows.length < windowSize ? '' : rows.at(-1)!.eventId
    if (before !== '' && read >= readMax) {
      from = minuteOf(ulidTime(before)) + minuteMs
      before = ''
    }
    await new Promise(setImmediate)
  }
  const owners = await readOwners(db, [...found.keys()])
  return { last, from, subscriptions: owners.map(({ id, ...owner }) => ({ ...owner, minutes: found.get(id)! })) }
}

function add(found: Map<string, Map<number, Figure>>, wake: WakeOutcome): void {
  const { subscriptionId, eventId, outcome, updatedAt } = wake
  const happenedAt = ulidTime(eventId)
  const at = minuteOf(happenedAt)
  const minutes = found.get(subscriptionId) ?? new Map<number, Figure>()
  found.set(subscriptionId, minutes)
  const figure = minutes.get(at) ?? { delivered: 0, failed: 0, open: 0, tookMs: [] }
  minutes.set(at, figure)
  if (outcome === 'pending') figure.open++
  else if (outcome === 'delivered' || outcome === 'written') {
    figure.delivered++
    figure.tookMs.push(Math.max(0, updatedAt - happenedAt))
  } else figure.failed++
}

function figuresOf({ last, from, subscriptions }: Reading, of: Owner, minutes: number): WakeFigures {
  const first = Math.max(from, last - (minutes - 1) * minuteMs)
  const own = subscriptions.filter((one) =>
    'agentId' in of ? one.agentId === of.agentId : one.projectId === of.projectId,
  )
  const places = Array.from({ length: Math.max(0, (last - first) / minuteMs + 1) }, (_, nth) => first + nth * minuteMs)
  const each = places.map((at) => ({ at, figure: sumOf(own.flatMap((one) => one.minutes.get(at) ?? [])) }))
  return {
    from: first,
    minutes: each.map(({ at, figure }) => ({ at, ...timesOf(figure) })),
    totals: timesOf(sumOf(each.map(({ figure }) => figure))),
  }
}

function sumOf(figures: readonly Figure[]): Figure {
  const sum = (field: 'delivered' | 'failed' | 'open') => figures.reduce((total, figure) => total + figure[field], 0)
  const tookMs = figures.flatMap((figure) => figure.tookMs)
  return { delivered: sum('delivered'), failed: sum('failed'), open: sum('open'), tookMs }
}

function timesOf({ tookMs, ...counts }: Figure): Omit<MinuteFigure, 'at'> {
  const sorted = Float64Array.from(tookMs).sort()
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null
  return { ...counts, p50Ms: at(0.5), p95Ms: at(0.95) }
}

const minuteOf = (ms: number): number => ms - (ms % minuteMs)
