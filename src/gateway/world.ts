import type { Overload } from '../admission/overload.ts'
import type { UnreadAnswers } from '../admission/unread-answers.ts'
import type { ConnectionBounds } from '../fronts/connection-bounds.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../logger/logger.ts'
import type { NameResolverOptions } from '../security/name-resolver.ts'

/** The addresses and warnings of a gateway that has started. */
export interface StartResult {
  readonly url: string
  readonly grpcTarget: string | undefined
  /** The file with the admin key, if this gateway has created it. */
  readonly adminKeyFile: string | undefined
  /** Warnings about how the gateway can be reached. */
  readonly warnings: readonly string[]
}

/** A gateway that is open. */
export interface OpenGateway extends StartResult {
  readonly adminKey: string
  close(): Promise<void>
}

/** The outside world of a gateway. */
export interface World {
  readonly clock: Clock
  /** Instead of the clock of a PostgreSQL store. */
  readonly storeClock: Clock | undefined
  /** A clock that does not run while the machine sleeps, in ms. */
  readonly steady: () => number
  readonly log: Logger
  readonly random: () => number
  readonly names: NameResolverOptions
  readonly stopping: AbortSignal
  readonly bounds: Partial<ConnectionBounds> | undefined
  readonly unread: UnreadAnswers | undefined
  readonly overload: Pick<Overload, 'isOver'> | undefined
}
