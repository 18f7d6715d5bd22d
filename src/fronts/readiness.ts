import type { Clock } from '../lib/clock.ts'
import { readVersion } from '../lib/version.ts'
import type { Logger } from '../logger/logger.ts'

/** A store that takes longer than this for one row counts as down. Callers want an answer within a few seconds. */
const answerMaxMs = 2_000
/** However often it is requested, the store sees one read and one write a second. */
const freshMs = 1_000
const version = readVersion()

interface ReadinessChecks {
  /** Reject when the store does not read, or does not write. */
  readonly read: () => Promise<unknown>
  readonly write: () => Promise<unknown>
  /** True when due subscriptions are leased. */
  readonly isLeasing: () => boolean
  /** True when the clock agrees with that of the store. */
  readonly isClockRight: () => boolean
}

interface Readiness {
  /** The store can be read. */
  readonly store: boolean
  readonly writes: boolean
  readonly dispatcher: boolean
  readonly clock: boolean
}

/** True when the gateway can take work. */
function isReady({ store, writes, dispatcher, clock }: Readiness): boolean {
  return store && writes && dispatcher && clock
}

/** The answer of `/readyz`. A gateway that stops takes no more work. */
export async function readinessOf(probe: ReadinessProbe, stopping: AbortSignal) {
  const found = await probe.check()
  const ready = isReady(found) && !stopping.aborted
  const body = { status: ready ? ('ready' as const) : ('not-ready' as const), version, ...found }
  return { status: ready ? 200 : 503, body }
}

/** Finds out whether the gateway can take work, by a read and a write at most once a second, each with a limit. */
export class ReadinessProbe {
  readonly #checks: ReadinessChecks
  readonly #clock: Clock
  readonly #log: Logger
  readonly #read: Trial
  readonly #write: Trial
  #known: { readonly at: number; readonly found: Promise<Pick<Readiness, 'store' | 'writes'>> } | undefined
  #wasReady = true

  constructor(checks: ReadinessChecks, { clock, log }: { clock: Clock; log: Logger }) {
    this.#checks = checks
    this.#clock = clock
    this.#log = log
    this.#read = new Trial(checks.read, clock)
    this.#write = new Trial(checks.write, clock)
  }

  async check(): Promise<Readiness> {
    const now = this.#clock.now()
    const age = now - (this.#known?.at ?? Number.NEGATIVE_INFINITY)
    if (!this.#known || age >= freshMs || age < 0) this.#known = { at: now, found: this.#try() }
    const { isLeasing, isClockRight } = this.#checks
    const found = { ...(await this.#known.found), dispatcher: isLeasing(), clock: isClockRight() }
    this.#note(found)
    return found
  }

  async #try(): Promise<Pick<Readiness, 'store' | 'writes'>> {
    const [store, writes] = await Promise.all([this.#read.succeeds(), this.#write.succeeds()])
    return { store, writes }
  }

  #note(found: Readiness): void {
    const ready = isReady(found)
    if (ready === this.#wasReady) return
    this.#wasReady = ready
    if (ready) this.#log.info(found, 'gateway.ready')
    else this.#log.warn(found, 'gateway.unready')
  }
}

/** One check. While the last one has no answer, it is waited for again instead of another: a store that hangs gets no more of them. */
class Trial {
  readonly #act: () => Promise<unknown>
  readonly #clock: Clock
  #open: Promise<boolean> | undefined

  constructor(act: () => Promise<unknown>, clock: Clock) {
    this.#act = act
    this.#clock = clock
  }

  succeeds(): Promise<boolean> {
    this.#open ??= this.#start()
    const answer = this.#open
    return new Promise((resolve) => {
      const cancel = this.#clock.after(answerMaxMs, () => resolve(false))
      void answer.then(resolve).finally(cancel)
    })
  }

  async #start(): Promise<boolean> {
    try {
      await this.#act()
      return true
    } catch {
      return false
    } finally {
      this.#open = undefined
    }
  }
}
