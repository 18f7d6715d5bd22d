import type { Cleanup } from '../lib/cleanup.ts'
import type { Clock } from '../lib/clock.ts'
import { type Sweep, Sweeper } from '../lib/sweeper.ts'
import type { Logger } from '../logger/logger.ts'

interface Sweeps {
  /** Each gateway does its own. */
  readonly own: readonly Sweep[]
  /** One gateway of the cluster does each of them. */
  readonly shared: readonly Sweep[]
}

interface SweeperContext {
  readonly clock: Clock
  readonly log: Logger
  /** True when this gateway does a shared sweep now. */
  readonly holdsLease: (sweep: string) => Promise<boolean>
}

/** Builds the sweepers of a gateway. Returns what starts them; `undo` stops them. */
export function openSweepers({ own, shared }: Sweeps, context: SweeperContext, undo: Cleanup): () => void {
  const { clock, log, holdsLease } = context
  const failed = (err: unknown, sweep: string): void => log.error({ err, sweep }, 'sweep.failed')
  const sweepers = [
    ...own.map((sweep) => new Sweeper(sweep, { clock, failed })),
    ...shared.map((sweep) => new Sweeper(sweep, { clock, failed, holdsLease })),
  ]
  for (const sweeper of sweepers) undo.use(sweeper)
  return () => {
    for (const sweeper of sweepers) sweeper.start()
  }
}
