import { Resolver } from 'node:dns'
import { readFileSync } from 'node:fs'
import { accessLimits, connectionLimits } from './limits.ts'
import { createAddressPolicy } from './security/address-policy.ts'
import { createClientAddress } from './security/client-address.ts'
import { type JwtIssuer, parseJwtIssuers } from './security/jwt-issuers.ts'
import { SecretBox } from './security/secret.ts'
import type { TlsPaths } from './security/tls-files.ts'
import { isLoopbackHost } from './security/url-guard.ts'

export interface Config {
  readonly http: { readonly host: string; readonly port: number; readonly publicUrl: string | undefined }
  /** No port: gRPC is off. `publicTarget` is the `host:port` that cards advertise. */
  readonly grpc: { readonly port: number | undefined; readonly publicTarget: string | undefined }
  /** Undefined: HTTP and gRPC are plain text. */
  readonly tls: TlsPaths | undefined
  /** 0: no limit. */
  readonly connections: { readonly max: number; readonly perAddress: number }
  /** From one address within a minute. 0: no limit. */
  readonly wrongKeysMax: number
  readonly dataDir: string
  /** The PostgreSQL store, which several gateways can share. Undefined: the embedded store in the data directory. */
  readonly databaseUrl: string | undefined
  /** The Redis server of the bus between gateways. Undefined: PostgreSQL's NOTIFY. */
  readonly busUrl: string | undefined
  /** The newest first; every one is accepted. Configured keys win over those in the data directory. */
  readonly adminKeys: readonly string[] | undefined
  readonly encryptionKeys: readonly string[] | undefined
  /** Issuers whose tokens are accepted in addition to the gateway's own keys. */
  readonly jwtIssuers: readonly JwtIssuer[]
  readonly webhooks: {
    readonly allow: readonly string[]
    readonly timeoutMs: number
    /** Each an address or `address:port`. Undefined: the name servers of the machine. */
    readonly nameServers: readonly string[] | undefined
  }
  /** 0: kept for ever. */
  readonly retention: {
    readonly eventsMs: number
    readonly deliveriesMs: number
    readonly messagesMs: number
    readonly auditMs: number
  }
  /** CIDRs of the proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[]
  /** 0: no limit. */
  readonly mail: { readonly perMinute: number; readonly stormTurns: number; readonly stormMessages: number }
  /** How long a session may be silent. */
  readonly sessions: { readonly timeoutMs: number }
  readonly a2a: { readonly blockingTimeoutMs: number }
  readonly logLevel: string
}

export type Env = Readonly<Record<string, string | undefined>>

const logLevels = ['silent', 'error', 'warn', 'info', 'debug']
const dayMs = 24 * 60 * 60 * 1000
const daysMax = 36_500
/** A key that a person made up is weaker than its length suggests. */
const adminKeyMin = 24
const loopback = ['127.0.0.0/8', '::1/128']

/** Reads the configuration from environment variables and applies the defaults. Throws one Error that lists every problem, each with its variable and the remedy. */
export function envToConfig(env: Env): Config {
  const problems: string[] = []
  const number = (name: string, fallback: number, min: number, max: number): number => {
    const text = env[name]?.trim()
    if (!text) return fallback
    const value = Number(text)
    if (Number.isFinite(value) && value >= min && value <= max) return value
    problems.push(`${name}="${text}": give a number from ${min} to ${max}.`)
    return fallback
  }
  const port = (name: string, fallback: number): number => {
    const value = number(name, fallback, 0, 65_535)
    if (!Number.isInteger(value))
      problems.push(`${name}="${value}": give a whole number from 0 to 65535; 0 is any free port.`)
    return value
  }
  const whole = (name: string, fallback: number, max: number): number => {
    const value = number(name, fallback, 0, max)
    if (!Number.isInteger(value))
      problems.push(`${name}="${value}": give a whole number from 0 to ${max}; 0 is no limit.`)
    return value
  }
  const days = (name: string, fallback = 30): number => Math.round(number(name, fallback, 0, daysMax) * dayMs)
  const text = (name: string): string | undefined => env[name]?.trim() || undefined
  const check = (name: string, act: () => void): void => {
    try {
      act()
    } catch (error) {
      problems.push(`${name}: ${(error as Error).message}`)
    }
  }

  let jwtIssuers: JwtIssuer[] = []
  const issuers = text('ROUSE_JWT_ISSUERS')
  if (issuers) {
    check('ROUSE_JWT_ISSUERS', () => {
      jwtIssuers = parseJwtIssuers(textOrFile(issuers))
    })
  }
  const databaseUrl = text('ROUSE_DATABASE_URL')
  if (databaseUrl) check('ROUSE_DATABASE_URL', () => requirePostgres(databaseUrl))
  const busUrl = text('ROUSE_BUS_URL')
  if (busUrl) check('ROUSE_BUS_URL', () => requireRedis(busUrl, databaseUrl))
  const host = text('ROUSE_HOST') ?? '127.0.0.1'
  const trustedProxies = cidrs(text('ROUSE_TRUSTED_PROXIES') ?? 'none')
  check('ROUSE_TRUSTED_PROXIES', () => createClientAddress(trustedProxies))
  const list = (name: string): string[] | undefined =>
    text(name)
      ?.split(/[\s,]+/)
      .filter(Boolean)
  const encryptionKeys = list('ROUSE_ENCRYPTION_KEY')
  if (encryptionKeys) check('ROUSE_ENCRYPTION_KEY', () => new SecretBox(encryptionKeys))
  const adminKeys = list('ROUSE_ADMIN_KEY')
  if (adminKeys?.some((key) => key.length < adminKeyMin))
    problems.push(
      `ROUSE_ADMIN_KEY: give each key at least ${adminKeyMin} characters, better 32 (openssl rand -hex 32).`,
    )
  const publicUrl = text('ROUSE_PUBLIC_URL')?.replace(/\/+$/, '')
  if (publicUrl) check('ROUSE_PUBLIC_URL', () => requireHttp(publicUrl))
  const allowed = text('ROUSE_WEBHOOK_ALLOW')
  const allow = allowed === undefined ? allowedByDefault(host, publicUrl) : cidrs(allowed)
  check('ROUSE_WEBHOOK_ALLOW', () => createAddressPolicy(allow))
  const httpPort = port('ROUSE_PORT', 4520)
  const grpcPort = text('ROUSE_GRPC_PORT')?.toLowerCase() === 'off' ? undefined : port('ROUSE_GRPC_PORT', 4521)
  if (grpcPort === httpPort && grpcPort !== 0)
    problems.push(`ROUSE_GRPC_PORT="${grpcPort}": HTTP listens there. Give another port, or "off" for no gRPC.`)
  const publicTarget = text('ROUSE_GRPC_PUBLIC_TARGET')
  if (publicTarget && !/^(\[[^\]\s]+\]|[^\s:/]+):\d{1,5}$/.test(publicTarget))
    problems.push(`ROUSE_GRPC_PUBLIC_TARGET="${publicTarget}": give host:port, e.g. rouse.example:443.`)
  const tls = tlsPaths(text, problems)
  // Every connection through a proxy has the proxy's address.
  const isFaced = isLoopbackHost(host) || (publicUrl !== undefined && tls === undefined)
  const { connections, connectionsPerAddress } = connectionLimits
  const nameServers = text('ROUSE_NAME_SERVERS')?.split(/[\s,]+/)
  if (nameServers) check('ROUSE_NAME_SERVERS', () => requireNameServers(nameServers))
  const logLevel = text('ROUSE_LOG_LEVEL') ?? 'warn'
  if (!logLevels.includes(logLevel)) problems.push(`ROUSE_LOG_LEVEL="${logLevel}": one of ${logLevels.join(', ')}.`)

  const config: Config = {
    http: { host, port: httpPort, publicUrl },
    grpc: { port: grpcPort, publicTarget },
    tls,
    wrongKeysMax: whole('ROUSE_WRONG_KEYS_PER_MINUTE', accessLimits.failedTries.max, 1_000_000),
    connections: {
      max: whole('ROUSE_CONNECTIONS', connections.max, 1_000_000),
      perAddress: whole('ROUSE_CONNECTIONS_PER_ADDRESS', isFaced ? 0 : connectionsPerAddress.max, 1_000_000),
    },
    dataDir: text('ROUSE_DATA_DIR') ?? '.rouse',
    databaseUrl,
    busUrl,
    adminKeys,
    encryptionKeys,
    jwtIssuers,
    webhooks: { allow, timeoutMs: number('ROUSE_WEBHOOK_TIMEOUT', 10, 1, 30) * 1000, nameServers },
    retention: {
      eventsMs: days('ROUSE_RETENTION_DAYS'),
      deliveriesMs: days('ROUSE_DELIVERY_RETENTION_DAYS'),
      messagesMs: days('ROUSE_MESSAGE_RETENTION'),
      auditMs: days('ROUSE_AUDIT_RETENTION_DAYS', 365),
    },
    trustedProxies,
    mail: {
      perMinute: whole('ROUSE_MESSAGES_PER_MINUTE', 300, 60_000),
      stormTurns: whole('ROUSE_STORM_TURNS', 60, 100_000),
      stormMessages: whole('ROUSE_STORM_MESSAGES', 600, 10_000_000),
    },
    sessions: { timeoutMs: number('ROUSE_SESSION_TIMEOUT', 300, 30, 86_400) * 1000 },
    a2a: { blockingTimeoutMs: number('ROUSE_BLOCKING_TIMEOUT', 300, 0, 86_400) * 1000 },
    logLevel,
  }
  if (problems.length > 0)
    throw new Error(`The configuration is not valid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
  return config
}

/** Reads a list as JSON, or from a file that holds one. */
function textOrFile(text: string): string {
  return text.startsWith('[') ? text : readFileSync(text, 'utf8')
}

/**
 * Returns loopback if only this machine can reach the gateway. A gateway behind a proxy listens on loopback too, but its agents are
 * on other machines.
 */
function allowedByDefault(host: string, publicUrl: string | undefined): readonly string[] {
  const isLocal = publicUrl === undefined || (URL.canParse(publicUrl) && isLoopbackHost(new URL(publicUrl).hostname))
  return isLoopbackHost(host) && isLocal ? loopback : []
}

/** `none` is an empty list: it closes loopback too while the gateway listens there. */
function cidrs(text: string): string[] {
  return text.toLowerCase() === 'none' ? [] : text.split(/[\s,]+/).filter(Boolean)
}

function tlsPaths(text: (name: string) => string | undefined, problems: string[]): TlsPaths | undefined {
  const [cert, key, clientCa] = [text('ROUSE_TLS_CERT'), text('ROUSE_TLS_KEY'), text('ROUSE_TLS_CLIENT_CA')]
  if (cert && key) return { cert, key, clientCa }
  if (cert || key) problems.push('ROUSE_TLS_CERT and ROUSE_TLS_KEY: give both files, or neither.')
  else if (clientCa) problems.push('ROUSE_TLS_CLIENT_CA: it takes ROUSE_TLS_CERT and ROUSE_TLS_KEY too.')
  return undefined
}

function requireHttp(text: string): void {
  const { protocol } = new URL(text)
  if (protocol !== 'http:' && protocol !== 'https:') throw new Error('give an http or https URL.')
}

function requireNameServers(servers: readonly string[]): void {
  try {
    new Resolver().setServers(servers)
  } catch (cause) {
    throw new Error('give addresses such as 10.0.0.2 or 10.0.0.2:5353, separated by commas.', { cause })
  }
}

/** The URL may hold a password, so errors do not repeat it. */
function requirePostgres(text: string): void {
  const protocol = URL.canParse(text) ? new URL(text).protocol : ''
  if (!['postgres:', 'postgresql:'].includes(protocol))
    throw new Error('give a URL such as postgres://rouse@127.0.0.1:5432/rouse, or none for the embedded store.')
}

/** The URL may hold a password, so errors do not repeat it. */
function requireRedis(text: string, databaseUrl: string | undefined): void {
  const protocol = URL.canParse(text) ? new URL(text).protocol : ''
  if (!['redis:', 'rediss:'].includes(protocol)) throw new Error('give a URL such as redis://127.0.0.1:6379.')
  if (databaseUrl === undefined)
    throw new Error('the bus joins the gateways of one PostgreSQL: set ROUSE_DATABASE_URL too, or unset this.')
}
