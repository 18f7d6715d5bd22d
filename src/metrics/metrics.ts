import { Counter, Histogram } from './series.ts'

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
 * The counts of the gateway: plain numbers in memory. Every series has a bounded number of labels, and no label is a name, an id or a
 * word of a peer.
 */
export class Metrics {
  /** The series by name. */
  readonly series = {
    rouse_accept_seconds: new Histogram('A message from its call to the moment when it is durable', callBounds, [
      'surface',
    ]),
    rouse_commit_seconds: new Histogram('A group of writers from its first statement to the disk', callBounds),
    rouse_commit_writers: new Histogram('Writers that shared a commit', countBounds),
    rouse_events_total: new Counter(
      'Events that this gateway appended to logs',
      ['type'],
      ['wake.failed', 'subscription.degraded', 'subscription.recovered'],
    ),
    rouse_wake_seconds: new Histogram(
      'A delivered wake from the append of its first event to the answer of its receiver, with the window of a digest',
      wakeBounds,
      ['target', 'form'],
    ),
    rouse_wake_events: new Histogram(
      'Events in a delivered wake; the sum less the count is what coalescing has saved',
      countBounds,
    ),
    rouse_wake_attempts_total: new Counter('Attempts at wakes and push notifications, retries included', [
      'target',
      'outcome',
    ]),
    rouse_refusals_total: new Counter('Calls that were refused because of a limit', ['code', 'limit']),
    rouse_pulses_total: new Counter('Wakes without mail: nudges and heartbeats', ['mode'], ['heartbeat', 'nudge']),
    rouse_recoveries_total: new Counter(
      'Nudges and restarts: ordered, and what became of them',
      ['mode', 'change'],
      recoveries,
    ),
  }

  /** A message was stored. `ms`: since its call. */
  accepted(surface: 'a2a' | 'mail', ms: number): void {
    this.series.rouse_accept_seconds.observe(ms / 1_000, surface)
  }

  /** A group of writers is on the disk. `ms`: since its first statement. */
  committed(writers: number, ms: number): void {
    this.series.rouse_commit_seconds.observe(ms / 1_000)
    this.series.rouse_commit_writers.observe(writers)
  }

  /** Events were committed to a log. */
  appended(events: readonly { readonly type: string; readonly data: Readonly<Record<string, unknown>> }[]): void {
    for (const { type, data } of events) {
      this.series.rouse_events_total.add(type)
      if (type === 'heartbeat.pulse') this.series.rouse_pulses_total.add(String(data.mode))
      if (type === 'recovery.ordered' || type === 'recovery.ended')
        this.series.rouse_recoveries_total.add(`${data.mode} ${data.change}`)
    }
  }

  attempted({ target, outcome, eventCount, waitedMs }: AttemptFacts): void {
    this.series.rouse_wake_attempts_total.add(`${target} ${outcome}`)
    if (outcome !== 'delivered') return
    this.series.rouse_wake_seconds.observe(waitedMs / 1_000, `${target} ${eventCount > 1 ? 'digest' : 'single'}`)
    this.series.rouse_wake_events.observe(eventCount)
  }

  /** A call was refused. `limit`: the name of the limit; undefined: the code says it. */
  refused(code: string, limit: string | undefined): void {
    this.series.rouse_refusals_total.add(`${code} ${limit ?? code}`)
  }
}
