import type { LocalReport } from './clients.ts'

const wakesMax = 1_000
const reportsOfOneMax = 20
/** A hook may call before the adapter waits for it: a harness is quick, and the adapter writes to the disk. */
const keptMs = 10 * 60_000

interface KnownWake {
  /** ms since the epoch */
  at: number
  readonly reports: LocalReport[]
}

interface Waiter {
  readonly isEnough: (report: LocalReport) => boolean
  readonly resolve: (report: LocalReport | undefined) => void
}

/** The recent reports about wakes, and those that wait for them. */
export class ReportedWakes {
  readonly #known = new Map<string, KnownWake>()
  readonly #waiters = new Map<string, Set<Waiter>>()

  note(report: LocalReport, at: number): void {
    const { wakeId } = report
    const reports = [...(this.#known.get(wakeId)?.reports ?? []), report].slice(-reportsOfOneMax)
    // Again at the end of the map: its order is that of the last reports.
    this.#known.delete(wakeId)
    this.#known.set(wakeId, { at, reports })
    for (const [oldest, wake] of this.#known) {
      if (this.#known.size <= wakesMax && at - wake.at <= keptMs) break
      this.#known.delete(oldest)
    }
    for (const { isEnough, resolve } of this.#waiters.get(wakeId) ?? []) if (isEnough(report)) resolve(report)
  }

  /** As `LocalClients.reported` says. */
  reported(
    wakeId: string,
    isEnough: (report: LocalReport) => boolean,
    signal: AbortSignal,
  ): Promise<LocalReport | undefined> {
    const known = this.#known.get(wakeId)?.reports.find(isEnough)
    if (known || signal.aborted) return Promise.resolve(known)
    return new Promise((done) => {
      const resolve = (report: LocalReport | undefined): void => {
        const all = this.#waiters.get(wakeId)
        all?.delete(waiter)
        if (all?.size === 0) this.#waiters.delete(wakeId)
        signal.removeEventListener('abort', give)
        done(report)
      }
      const give = () => resolve(undefined)
      const waiter: Waiter = { isEnough, resolve }
      signal.addEventListener('abort', give, { once: true })
      this.#waiters.set(wakeId, (this.#waiters.get(wakeId) ?? new Set()).add(waiter))
    })
  }

  /** Gives up all that wait. */
  close(): void {
    for (const waiters of [...this.#waiters.values()]) for (const { resolve } of [...waiters]) resolve(undefined)
  }
}
