import { Counter, type Sample } from './counter.ts'
import { Histogram } from './histogram.ts'

/** Seconds: from a tenth of a commit on a fast disk to what a client no longer waits for. */
const callBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** Seconds: from a wake that is sent at once to one whose receiver was away for a night. */
const wakeBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200, 36_000]
const countBounds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]

const recoveries = ['nudge', 'restart'].flatMap((mode) =>
  ['ordered', 'cleared', 'abandoned', 'failed', 'refused', 'withdrawn'].map((change) => `${mode} ${change}`),
)

/** The known facts of an attempt at a wake. */
export interface AttemptFacts {
  /** The harness target, or `push`. */
  readonly target: string
  /** `delivered`, the class of the status (`4xx`), or why there was no answer (`timeout`). */
  readonly outcome: string
  readonly eventCount: number
  /** From the append of the first event to the end of the attempt, in ms. */
  readonly waitedMs: number
}

/**
 * The counts of the gateway: plain numbers in memory, whoever reads them. Every series has a bounded number of labels, and no label is a
 * name, an id or a word of a peer.
 */
export class Metrics {
  readonly #acceptSeconds = new Histogram(callBounds, ['surface'])
  readonly #commitSeconds = new Histogram(callBounds)
  readonly #commitWriters = new Histogram(countBounds)
  readonly #events = new Counter(['type'], ['wake.failed', 'subscription.degraded', 'subscription.recovered'])
  readonly #wakeSeconds = new Histogram(wakeBounds, ['target', 'form'])
  readonly #wakeEvents = new Histogram(countBounds)
  readonly #attempts = new Counter(['target', 'outcome'])
  readonly #refusals = new Counter(['code', 'limit'])
  readonly #pulses = new Counter(['mode'], ['heartbeat', 'nudge'])
  readonly #recoveries = new Counter(['mode', 'change'], recoveries)

  /** The series by name. */
  readonly series: Readonly<Record<string, Series>> = {
    rouse_accept_seconds: {
      help: 'A message from its call to the moment when it is durable',
      values: this.#acceptSeconds,
    },
    rouse_commit_seconds: {
      help: 'A group of writers from its first statement to the disk',
      values: this.#commitSeconds,
    },
    rouse_commit_writers: { help: 'Writers that shared a commit', values: this.#commitWriters },
    rouse_events_total: { help: 'Events that this gateway appended to logs', values: this.#events },
    rouse_wake_seconds: {
      help: 'A delivered wake from the append of its first event to the answer of its receiver, with the window of a digest',
      values: this.#wakeSeconds,
    },
    rouse_wake_events: {
      help: 'Events in a delivered wake; the sum less the count is what coalescing has saved',
      values: this.#wakeEvents,
    },
    rouse_wake_attempts_total: {
      help: 'Attempts at wakes and push notifications, retries included',
      values: this.#attempts,
    },
    rouse_refusals_total: { help: 'Calls that were refused because of a limit', values: this.#refusals },
    rouse_pulses_total: { help: 'Wakes without mail: nudges and heartbeats', values: this.#pulses },
    rouse_recoveries_total: { help: 'Nudges and restarts: ordered, and what became of them', values: this.#recoveries },
  }

  /** A message was stored. `ms`: since its call. */
  accepted(surface: 'a2a' | 'mail', ms: number): void {
    this.#acceptSeconds.observe(ms / 1_000, surface)
  }

  /** A group of writers is on the disk. `ms`: since its first statement. */
  committed(writers: number, ms: number): void {
    this.#commitSeconds.observe(ms / 1_000)
    this.#commitWriters.observe(writers)
  }

  /** Events were committed to a log. */
  appended(events: readonly { readonly type: string; readonly data: Readonly<Record<string, unknown>> }[]): void {
    for (const { type, data } of events) {
      this.#events.add(type)
      if (type === 'heartbeat.pulse') this.#pulses.add(String(data.mode))
      if (type === 'recovery.ordered' || type === 'recovery.ended') this.#recoveries.add(`${data.mode} ${data.change}`)
    }
  }

  attempted({ target, outcome, eventCount, waitedMs }: AttemptFacts): void {
    this.#attempts.add(`${target} ${outcome}`)
    if (outcome !== 'delivered') return
    this.#wakeSeconds.observe(waitedMs / 1_000, `${target} ${eventCount > 1 ? 'digest' : 'single'}`)
    this.#wakeEvents.observe(eventCount)
  }

  /** A call was refused. `limit`: the name of the limit; undefined: the code says it. */
  refused(code: string, limit: string | undefined): void {
    this.#refusals.add(`${code} ${limit ?? code}`)
  }
}

/** One series: what it tells, and its values. */
export interface Series {
  readonly help: string
  readonly values: Counter | Histogram
}

/** A value that is asked for when it is read. */
export interface Gauge {
  readonly name: string
  readonly help: string
  readonly labels: readonly string[]
  readonly samples: readonly Sample[]
}
