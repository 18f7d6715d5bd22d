import type { TurnsLook } from '../app-server.ts'
import type { WakePlace } from './seen.ts'
import type { WakeTimes } from './verdict.ts'

/** One wake in one thread. */
export interface WayOptions {
  readonly threadId: string
  /** Its name in Codex. */
  readonly label: string
  readonly times: WakeTimes
  /** Which turns may have it. */
  readonly turns: TurnsLook
}

/** One way to a thread, and to one wake in it. Errors of each call: `RpcError`; `ConnectionLost`: look for another way. */
export interface Way extends AsyncDisposable {
  /** `app-server`, `queue` */
  readonly name: string
  look(): Promise<WakePlace>
  /** Puts the wake into the queue of the thread. */
  enqueue(text: string): Promise<void>
  /** Puts it into the turn that runs. False: it did not: none runs, or it takes nothing. */
  steer(text: string): Promise<boolean>
  /** Resolves with true when it was still in the queue: then it is in it no more. */
  takeBack(queuedId: string): Promise<boolean>
  /** How often to look, where nothing tells a change. `sinceMs`: since the wake was handed over. */
  intervalMs(sinceMs: number): number
  /** Resolves when something has changed, and after a while. */
  changed(maxMs: number, signal: AbortSignal): Promise<void>
}
