import { withSecretFiles } from '../client/secret-files.ts'
import { type Config, envToConfig } from '../config/config.ts'
import { once } from '../lib/once.ts'

export type { Config } from '../config/config.ts'
export type { JwtIssuer as Issuer } from '../security/jwt-issuers.ts'

/** Where the lines of the log go. */
export interface Log {
  debug(fields: object, event: string): void
  info(fields: object, event: string): void
  warn(fields: object, event: string): void
  error(fields: object, event: string): void
  /** True when lines of a level are written at all. */
  shows?(level: 'debug' | 'info'): boolean
}

export interface Started {
  readonly url: string
  /** `host:port`; undefined: gRPC is off. */
  readonly grpcTarget: string | undefined
  /** The file with the admin key, if the key was not configured. */
  readonly adminKeyFile: string | undefined
  /** Warnings about how the gateway can be reached. */
  readonly warnings: readonly string[]
}

/** A gateway that the caller runs. */
export interface Gateway {
  /** Opens the store, listens and dispatches. Rejects when it cannot; call `stop` then too. */
  start(): Promise<Started>
  /** Stops accepting requests, ends streams, finishes what is in flight, closes the store. Twice is the same as once. */
  stop(): Promise<void>
  /** The operator's key. Throws before the start. */
  readonly adminKey: string
}

/** Reads the configuration from `ROUSE_…` variables and applies the defaults. Throws one Error that lists every problem. */
export function configFromEnv(env: Readonly<Record<string, string | undefined>>): Config {
  return envToConfig(withSecretFiles(env))
}

/** A gateway that is opened by `start` and closed by `stop`. Without `log`, lines go to standard error. */
export function createApp(config: Config, options: { readonly log?: Log } = {}): Gateway {
  if (typeof config?.http?.host !== 'string' || typeof config.logLevel !== 'string') {
    throw new TypeError('createApp takes a Config: make one with configFromEnv, and change what differs.')
  }
  let gateway: Gateway | undefined
  let starting: Promise<Gateway> | undefined
  // Loaded with the first start: a program that only verifies wakes does not need it.
  const open = once(async (): Promise<Gateway> => {
    const app = await import('../gateway/app.ts')
    gateway = app.createApp(config, options)
    return gateway
  })
  return {
    async start() {
      starting = open()
      return (await starting).start()
    },
    async stop() {
      await (await starting?.catch(() => undefined))?.stop()
    },
    get adminKey() {
      if (!gateway) throw new Error('The gateway has not been started.')
      return gateway.adminKey
    },
  }
}
