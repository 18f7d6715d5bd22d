import type { Core } from '../core.ts'
import type { WakeStreams } from './streams.ts'

export interface WakeStreamContext extends Core {
  /** This gateway's id. */
  readonly gatewayId: string
  readonly streams: WakeStreams
  /** In [0, 1). */
  readonly random: () => number
  /** Notifies the engine, here and on the other gateways, that a subscription has changed. */
  readonly changed: (subscriptionId: string) => void
}
