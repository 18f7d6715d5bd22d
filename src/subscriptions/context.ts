import type { Core } from '../core.ts'
import type { SecretBox } from '../security/secret.ts'
import type { Channels } from '../wakes/channel.ts'

export interface SubscriptionContext extends Core {
  readonly secrets: SecretBox
  readonly channels: Channels
  readonly newSigningKey: () => string
  /** Throws `url-not-allowed` or `invalid-request`. The URL is judged, never requested. */
  readonly checkUrl: (url: string, field: string) => void
  /** Notifies the dispatcher that a subscription has changed: its run ends, and a new one may be due. */
  readonly changed: (subscriptionId: string) => void
}
