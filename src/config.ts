import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Env, EnvReader } from './lib/env-reader.ts'
import { bodyCeiling, connectionLimits, gatewayLimits, KiB, sizeLimits } from './limits.ts'
import { createAddressPolicy } from './security/address-policy.ts'
import { createClientAddress } from './security/client-address.ts'
import {
  allowedByDefault,
  cidrs,
  requireHttp,
  requireNameServers,
  requirePostgres,
  requireProxy,
  requireRedis,
} from './security/configured-addresses.ts'
import { type JwtIssuer, parseJwtIssuers } from './security/jwt-issuers.ts'
import { SecretBox } from './security/secret.ts'
import type { TlsPaths } from './security/tls-files.ts'
import { isLoopbackHost, isWildcardHost } from './security/url-guard.ts'
import type { McpEventCodes } from './words/mcp-events.ts'

export interface Config {
  readonly http: { readonly host: string; readonly port: number; readonly publicUrl: string | undefined }
  /** No port: gRPC is off. `publicTarget` is the `host:port` that cards advertise. */
  readonly grpc: { readonly port: number | undefined; readonly publicTarget: string | undefined }
  /** Undefined: HTTP and gRPC are plain text. */
  readonly tls: TlsPaths | undefined
  /** The largest body of a request, in bytes. */
  readonly bodyMax: number
  /** 0: no limit. */
  readonly connections: { readonly max: number; readonly perAddress: number }
  /** Wrong keys from one address within a minute. 0: no limit. */
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
    /** The URL of the proxy for webhooks to public addresses. Undefined: none. */
    readonly proxy: string | undefined
  }
  /** 0: kept for ever. */
  readonly retention: {
    readonly eventsMs: number
    readonly deliveriesMs: number
    readonly messagesMs: number
    readonly auditMs: number
  }
  /** The directory of delivered mail that is older than its retention. undefined: it is deleted for good. */
  readonly mailArchive: string | undefined
  /** CIDRs of the proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[]
  /** 0: no limit. */
  readonly mail: { readonly perMinute: number; readonly stormTurns: number; readonly stormMessages: number }
  /** How long a session may be silent. */
  readonly sessions: { readonly timeoutMs: number }
  /** Events for clients of MCP: `allowsHttp` lets those on this machine give a URL with `http`. */
  readonly mcpEvents: { readonly isOn: boolean; readonly codes: McpEventCodes; readonly allowsHttp: boolean }
  readonly a2a: { readonly blockingTimeoutMs: number }
  /** The readers of `/metrics`: everybody who reaches it, operators with a key, or nobody. */
  readonly metrics: (typeof metricsChoices)[number]
  /** The OTLP collector that spans are sent to. Undefined: there are none. */
  readonly otlpEndpoint: string | undefined
  readonly logLevel: string
}

const metricsChoices = ['open', 'key', 'off'] as const

const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const
/** A key that a person made up is weaker than its length suggests. */
const adminKeyMin = 24

/** Reads the configuration from environment variables and applies the defaults. Throws one Error that lists every problem, each with its variable and the remedy. */
export function envToConfig(env: Env): Config {
  const read = new EnvReader(env)
  const http = readHttp(read)
  const tls = readTls(read)
  const databaseUrl = read.checkedText('ROUSE_DATABASE_URL', requirePostgres)
  const config: Config = {
    http,
    grpc: readGrpc(read, http.port),
    tls,
    bodyMax: read.number('ROUSE_BODY_MAX', sizeLimits.body.max, 64 * KiB, bodyCeiling),
    connections: readConnections(read, http, tls),
    wrongKeysMax: read.limit('ROUSE_WRONG_KEYS_PER_MINUTE', gatewayLimits.wrongKeys.max, 1_000_000),
    dataDir: readDataDir(read),
    databaseUrl,
    busUrl: read.checkedText('ROUSE_BUS_URL', (url) => requireRedis(url, databaseUrl)),
    adminKeys: readAdminKeys(read),
    encryptionKeys: readEncryptionKeys(read),
    jwtIssuers: readIssuers(read),
    webhooks: readWebhooks(read, http),
    retention: {
      eventsMs: read.daysMs('ROUSE_RETENTION_DAYS'),
      deliveriesMs: read.daysMs('ROUSE_DELIVERY_RETENTION_DAYS'),
      messagesMs: read.daysMs('ROUSE_MESSAGE_RETENTION'),
      auditMs: read.daysMs('ROUSE_AUDIT_RETENTION_DAYS', 365),
    },
    mailArchive: readArchive(read),
    trustedProxies: readTrustedProxies(read),
    mail: {
      perMinute: read.limit('ROUSE_MESSAGES_PER_MINUTE', 300, 60_000),
      stormTurns: read.limit('ROUSE_STORM_TURNS', gatewayLimits.stormTurns.max, 100_000),
      stormMessages: read.limit('ROUSE_STORM_MESSAGES', gatewayLimits.stormMessages.max, 10_000_000),
    },
    sessions: { timeoutMs: read.number('ROUSE_SESSION_TIMEOUT', 300, 30, 86_400) * 1000 },
    a2a: { blockingTimeoutMs: read.number('ROUSE_BLOCKING_TIMEOUT', 55, 0, 86_400) * 1000 },
    mcpEvents: readMcpEvents(read),
    metrics: read.oneOf('ROUSE_METRICS', metricsChoices, 'key'),
    otlpEndpoint: readOtlpEndpoint(read),
    logLevel: read.oneOf('ROUSE_LOG_LEVEL', logLevels, 'info'),
  }
  if (read.problems.length === 0) return config
  throw new Error(`The configuration is not valid:\n${read.problems.map((problem) => `  ${problem}`).join('\n')}`)
}

function readDataDir(read: EnvReader): string {
  return read.text('ROUSE_DATA_DIR') ?? '.rouse'
}

function readArchive(read: EnvReader): string | undefined {
  const given = read.text('ROUSE_MESSAGE_ARCHIVE')
  if (given === undefined) return join(readDataDir(read), 'archive')
  return given.toLowerCase() === 'off' ? undefined : given
}

function readHttp(read: EnvReader): Config['http'] {
  const publicUrl = read.text('ROUSE_PUBLIC_URL')?.replace(/\/+$/, '')
  if (publicUrl) read.check('ROUSE_PUBLIC_URL', () => requireHttp(publicUrl))
  return { host: read.text('ROUSE_HOST') ?? '127.0.0.1', port: read.port('ROUSE_PORT', 4520), publicUrl }
}

function readGrpc(read: EnvReader, httpPort: number): Config['grpc'] {
  const isOff = read.text('ROUSE_GRPC_PORT')?.toLowerCase() === 'off'
  const port = isOff ? undefined : read.port('ROUSE_GRPC_PORT', 4521)
  if (port === httpPort && port !== 0) {
    read.problems.push(`ROUSE_GRPC_PORT="${port}": HTTP listens there. Give another port, or "off" for no gRPC.`)
  }
  const publicTarget = read.text('ROUSE_GRPC_PUBLIC_TARGET')
  if (publicTarget && !/^(\[[^\]\s]+\]|[^\s:/]+):\d{1,5}$/.test(publicTarget)) {
    read.problems.push(`ROUSE_GRPC_PUBLIC_TARGET="${publicTarget}": give host:port, e.g. rouse.example:443.`)
  } else if (publicTarget && isWildcardHost(publicTarget.slice(0, publicTarget.lastIndexOf(':')))) {
    read.problems.push(`ROUSE_GRPC_PUBLIC_TARGET="${publicTarget}": give the host that clients use.`)
  }
  return { port, publicTarget }
}

function readTls(read: EnvReader): TlsPaths | undefined {
  const cert = readPath(read, 'ROUSE_TLS_CERT')
  const key = readPath(read, 'ROUSE_TLS_KEY')
  const clientCa = readPath(read, 'ROUSE_TLS_CLIENT_CA')
  if (cert && key) return { cert, key, clientCa }
  if (cert || key) read.problems.push('ROUSE_TLS_CERT and ROUSE_TLS_KEY: give both files, or neither.')
  else if (clientCa) read.problems.push('ROUSE_TLS_CLIENT_CA: it also needs ROUSE_TLS_CERT and ROUSE_TLS_KEY.')
  return undefined
}

/** Refuses the content of a file in the place of its path. It is not repeated: it may be a private key. */
function readPath(read: EnvReader, name: string): string | undefined {
  const path = read.text(name)
  if (path?.includes('-----BEGIN')) read.problems.push(`${name}: give the path of the PEM file, not its content.`)
  return path
}

function readConnections(read: EnvReader, http: Config['http'], tls: TlsPaths | undefined): Config['connections'] {
  const { connections, connectionsPerAddress } = connectionLimits
  // Every connection through a proxy has the proxy's address.
  const isBehindProxy = isLoopbackHost(http.host) || (http.publicUrl !== undefined && tls === undefined)
  return {
    max: read.limit('ROUSE_CONNECTIONS', connections.max, 1_000_000),
    perAddress: read.limit('ROUSE_CONNECTIONS_PER_ADDRESS', isBehindProxy ? 0 : connectionsPerAddress.max, 1_000_000),
  }
}

function readAdminKeys(read: EnvReader): string[] | undefined {
  const keys = read.list('ROUSE_ADMIN_KEY')
  if (keys?.some((key) => key.length < adminKeyMin)) {
    read.problems.push(
      `ROUSE_ADMIN_KEY: give each key at least ${adminKeyMin} characters, better 32 (openssl rand -hex 32).`,
    )
  }
  return keys
}

function readEncryptionKeys(read: EnvReader): string[] | undefined {
  const keys = read.list('ROUSE_ENCRYPTION_KEY')
  if (keys) read.check('ROUSE_ENCRYPTION_KEY', () => new SecretBox(keys))
  return keys
}

function readIssuers(read: EnvReader): readonly JwtIssuer[] {
  let issuers: readonly JwtIssuer[] = []
  read.checkedText('ROUSE_JWT_ISSUERS', (text) => {
    issuers = parseJwtIssuers(textOrFile(text))
  })
  return issuers
}

function readWebhooks(read: EnvReader, { host, publicUrl }: Config['http']): Config['webhooks'] {
  const allowed = read.text('ROUSE_WEBHOOK_ALLOW')
  const allow = allowed === undefined ? allowedByDefault(host, publicUrl) : cidrs(allowed)
  read.check('ROUSE_WEBHOOK_ALLOW', () => createAddressPolicy(allow))
  const nameServers = read.list('ROUSE_NAME_SERVERS')
  if (nameServers) read.check('ROUSE_NAME_SERVERS', () => requireNameServers(nameServers))
  const proxy = read.checkedText('ROUSE_WEBHOOK_PROXY', requireProxy)
  return { allow, timeoutMs: read.number('ROUSE_WEBHOOK_TIMEOUT', 10, 1, 30) * 1000, nameServers, proxy }
}

function readTrustedProxies(read: EnvReader): string[] {
  const proxies = cidrs(read.text('ROUSE_TRUSTED_PROXIES') ?? 'none')
  read.check('ROUSE_TRUSTED_PROXIES', () => createClientAddress(proxies))
  return proxies
}

function readMcpEvents(read: EnvReader): Config['mcpEvents'] {
  return {
    isOn: read.oneOf('ROUSE_MCP_EVENTS', ['on', 'off'], 'on') === 'on',
    codes: read.oneOf('ROUSE_MCP_EVENTS_CODES', ['draft', 'sep'], 'draft'),
    allowsHttp: read.oneOf('ROUSE_MCP_EVENTS_ALLOW_HTTP', ['no', 'loopback'], 'no') === 'loopback',
  }
}

/**
 * The variables of OpenTelemetry are understood too: whoever has a collector has set them for all programs. They are meant for others as well, so one
 * that this gateway cannot use is no problem of its start. Source: OpenTelemetry, environment variable specification.
 */
function readOtlpEndpoint(read: EnvReader): string | undefined {
  const own = read.checkedText('ROUSE_OTLP_ENDPOINT', (text) => text.toLowerCase() === 'off' || requireHttp(text))
  const word = (name: string): string => read.text(name)?.toLowerCase() ?? ''
  const exporter = word('OTEL_TRACES_EXPORTER')
  if (own?.toLowerCase() === 'off' || word('OTEL_SDK_DISABLED') === 'true' || exporter === 'none') return undefined
  if (own !== undefined) return own
  const protocol = word('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') || word('OTEL_EXPORTER_OTLP_PROTOCOL')
  const standard = read.text('OTEL_EXPORTER_OTLP_ENDPOINT') ?? ''
  const isForUs = ['', 'otlp'].includes(exporter) && protocol !== 'grpc' && /^https?:\/\//i.test(standard)
  return isForUs && URL.canParse(standard) ? standard : undefined
}

/** Returns a JSON text, or the text of the file that it names. */
function textOrFile(text: string): string {
  return text.startsWith('[') ? text : readFileSync(text, 'utf8')
}
