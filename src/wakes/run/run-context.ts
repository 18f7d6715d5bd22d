import type { Core } from '../../core.ts'
import type { LogNotifier } from '../../log/log-notifier.ts'
import type { Channels } from '../channel.ts'
import type { FindDelivered } from '../read/pending.ts'
import type { FindWaiting } from '../read/waiting.ts'
import type { Recorder } from './recorder.ts'

/** What all runs of a gateway share. */
export interface RunContext extends Core {
  readonly channels: Channels
  readonly notifier: LogNotifier
  readonly recorder: Recorder
  /** Mail that it finds has already reached its recipient: no wake is sent for it. */
  readonly findDelivered?: FindDelivered
  /** Finds the unread mail and the open tasks of an agent: what waits for it. */
  readonly findWaiting?: FindWaiting
  /** Handles by agent id: a handle never changes. */
  readonly identities: Map<string, string>
  /** False when another gateway may have taken over from this one: then a run renews its lease before each send. */
  readonly areLeasesSafe: () => boolean
  /** Whether other gateways share the work. */
  readonly hasPeers: () => boolean
}
