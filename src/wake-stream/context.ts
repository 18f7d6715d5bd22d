import type { Core } from '../log/core.ts'
import type { OnStep } from '../wakes/on-step.ts'
import type { ConnectingTarget } from '../words/targets.ts'
import type { WakeStreams } from './streams.ts'

export interface WakeStreamContext extends Core {
  /** This gateway's id. */
  readonly gatewayId: string
  readonly streams: WakeStreams
  /** The target whose subscriptions these streams read. */
  readonly target: ConnectingTarget
  /** In [0, 1). */
  readonly random: () => number
  /** Records a step of a wake for its mail, and notifies the senders. */
  readonly onStep: OnStep
  /** Notifies the engine, here and on the other gateways, that a subscription has changed. */
  readonly changed: (subscriptionId: string) => void
}
