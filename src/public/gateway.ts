import { withSecretFiles } from '../client/secret-files.ts'
import { envToConfig } from '../config.ts'
import { once } from '../lib/once.ts'

/** An issuer whose tokens are accepted beside keys. */
export interface Issuer {
  readonly issuer: string
  readonly audience: readonly string[]
  readonly algorithms: readonly string[]
  readonly jwksUri?: string | undefined
  readonly claims: {
    readonly agent: string
    readonly project?: string | undefined
    readonly role?: string | undefined
    readonly projects?: string | undefined
    readonly scopes?: string | undefined
  }
  readonly projects: readonly string[] | '*'
}

/** The configuration of a gateway. `configFromEnv` makes one; docs/configuration.md describes each value. */
export interface Config {
  readonly http: { readonly host: string; readonly port: number; readonly publicUrl: string | undefined }
  /** No port: gRPC is off. */
  readonly grpc: { readonly port: number | undefined; readonly publicTarget: string | undefined }
  readonly tls: { readonly cert: string; readonly key: string; readonly clientCa: string | undefined } | undefined
  /** The largest body of a request, in bytes. */
  readonly bodyMax: number
  readonly connections: { readonly max: number; readonly perAddress: number }
  readonly wrongKeysMax: number
  readonly dataDir: string
  readonly databaseUrl: string | undefined
  readonly busUrl: string | undefined
  readonly adminKeys: readonly string[] | undefined
  readonly encryptionKeys: readonly string[] | undefined
  readonly jwtIssuers: readonly Issuer[]
  readonly webhooks: {
    readonly allow: readonly string[]
    readonly timeoutMs: number
    readonly nameServers: readonly string[] | undefined
    readonly proxy: string | undefined
  }
  readonly retention: {
    readonly eventsMs: number
    readonly deliveriesMs: number
    readonly messagesMs: number
    readonly auditMs: number
  }
  readonly mailArchive: string | undefined
  readonly trustedProxies: readonly string[]
  readonly mail: { readonly perMinute: number; readonly stormTurns: number; readonly stormMessages: number }
  readonly sessions: { readonly timeoutMs: number }
  /** Events for clients of MCP. `allowsHttp`: those on this machine may give a URL with `http`. */
  readonly mcpEvents: { readonly isOn: boolean; readonly codes: 'draft' | 'sep'; readonly allowsHttp: boolean }
  readonly a2a: { readonly blockingTimeoutMs: number }
  /** The readers of `/metrics`: everybody who reaches it, operators with a key, or nobody. */
  readonly metrics: 'open' | 'key' | 'off'
  readonly otlpEndpoint: string | undefined
  readonly logLevel: string
}

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
