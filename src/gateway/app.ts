import type { Overload } from '../admission/overload.ts'
import type { UnreadAnswers } from '../admission/unread-answers.ts'
import type { Config } from '../config/config.ts'
import type { ConnectionBounds } from '../fronts/connection-bounds.ts'
import { type Clock, steadyClock, systemClock } from '../lib/clock.ts'
import { createLogger } from '../logger/create-logger.ts'
import type { Logger } from '../logger/logger.ts'
import type { NameResolverOptions } from '../security/name-resolver.ts'
import { openGateway } from './open-gateway.ts'
import type { OpenGateway, StartResult } from './world.ts'

/** Replacements that tests provide for parts of the outside world. */
export interface Overrides {
  readonly clock?: Clock
  /** The time of a PostgreSQL store: by default that of `clock` if there is one; `own`: that of PostgreSQL. */
  readonly storeClock?: Clock | 'own'
  /** Instead of the clock that does not run while the machine sleeps. Default: `clock`, where it is given. */
  readonly steady?: () => number
  readonly random?: () => number
  readonly log?: Logger
  readonly connectionBounds?: Partial<ConnectionBounds>
  readonly unread?: UnreadAnswers
  readonly overload?: Pick<Overload, 'isOver'>
  /** How the host names of webhooks are resolved. */
  readonly names?: NameResolverOptions
}

/** A running gateway. */
export interface Gateway extends AsyncDisposable {
  /** Opens the store, listens and dispatches. */
  start(): Promise<StartResult>
  /** Stops accepting requests, ends streams, finishes what is in flight, closes the store. Calling it twice is the same as once. */
  stop(): Promise<void>
  /** The operator's key, once started. */
  readonly adminKey: string
}

/** A gateway that is opened by `start` and closed by `stop`. */
export function createApp(config: Config, overrides: Overrides = {}): Gateway {
  const { clock = systemClock, storeClock: timed = overrides.clock } = overrides
  const steadily = overrides.clock ?? steadyClock
  const steady = overrides.steady ?? (() => steadily.now())
  const storeClock = timed === 'own' ? undefined : timed
  const log = overrides.log ?? createLogger(config.logLevel)
  const stopping = new AbortController()
  let running: OpenGateway | undefined
  let stopped: Promise<void> | undefined

  return {
    get adminKey() {
      if (!running) throw new Error('The gateway has not been started.')
      return running.adminKey
    },
    async start() {
      const { random = Math.random, names = {}, connectionBounds: bounds, unread, overload } = overrides
      const world = {
        clock,
        storeClock,
        steady,
        log,
        random,
        names,
        stopping: stopping.signal,
        bounds,
        unread,
        overload,
      }
      running = await openGateway(config, world)
      const { url, grpcTarget, adminKeyFile, warnings } = running
      return { url, grpcTarget, adminKeyFile, warnings }
    },
    stop() {
      stopping.abort()
      stopped ??= running?.close()
      return stopped ?? Promise.resolve()
    },
    [Symbol.asyncDispose]() {
      return this.stop()
    },
  }
}
