import type { Clock } from '../lib/clock.ts'
import type { AppendEvents } from '../log/append.ts'
import type { SecretBox } from '../security/secret.ts'
import type { Database } from '../storage/database.ts'
import type { Channels } from '../wakes/channel.ts'

export interface SubscriptionContext {
  readonly db: Database
  readonly append: AppendEvents
  readonly secrets: SecretBox
  readonly channels: Channels
  readonly newSigningKey: () => string
  /** Throws `url-not-allowed` or `invalid-request`. The URL is judged, never requested. */
  readonly checkUrl: (url: string, field: string) => void
  readonly clock: Clock
  /** Tells the dispatcher that a subscription has changed: its run ends, and a new one may be due. */
  readonly changed: (subscriptionId: string) => void
}
