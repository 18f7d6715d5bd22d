import type { Core } from '../log/core.ts'
import type { SecretBox } from '../security/secret.ts'
import type { Reader } from '../storage/database.ts'
import type { ChallengeReceiver, Channels } from '../wakes/channel.ts'

export interface SubscriptionContext extends Core {
  readonly secrets: SecretBox
  readonly channels: Channels
  readonly newSigningKey: () => string
  /** Throws `url-not-allowed` or `invalid-request`. The URL is judged, never requested. */
  readonly checkUrl: (url: string, field: string) => void
  /** True when clients of MCP on this machine may give a URL with `http`. */
  readonly allowsHttp: boolean
  /** Has the receiver of a client of MCP prove that it wants the events. */
  readonly challenge: ChallengeReceiver
  /** True when unread mail or open tasks wait for an agent. */
  readonly hasWaiting: (db: Reader, agentId: string) => Promise<boolean>
  /** Notifies the dispatcher that a subscription has changed: its run ends, and a new one may be due. */
  readonly changed: (subscriptionId: string) => void
}
