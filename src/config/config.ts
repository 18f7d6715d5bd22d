import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAddressPolicy } from '../security/address-policy.ts'
import { createClientAddress } from '../security/client-address.ts'
import { allowedByDefault } from '../security/configured-addresses.ts'
import { type JwtIssuer, parseJwtIssuers } from '../security/jwt-issuers.ts'
import { isLoopbackHost } from '../security/url-guard.ts'
import { type Setting, type ValuesOf, valuesOf } from './setting.ts'
import { settings } from './settings.ts'

type Values = ValuesOf<typeof settings>

/** The configuration of a gateway; docs/configuration.md describes each value. `configFromEnv` makes one. */
export type Config = Omit<Values, 'tls' | 'jwtIssuers'> & {
  /** The paths of PEM files. Undefined: HTTP and gRPC are plain text. */
  readonly tls: { readonly cert: string; readonly key: string; readonly clientCa: string | undefined } | undefined
  /** Issuers whose tokens are accepted in addition to the gateway's own keys. */
  readonly jwtIssuers: readonly JwtIssuer[]
}

type Env = Readonly<Record<string, string | undefined>>

/** Reads the configuration from environment variables and applies the defaults. Throws one Error that lists every problem, each with its variable and the remedy. */
export function envToConfig(env: Env): Config {
  const problems: string[] = []
  const has = ({ name }: Setting<unknown>): boolean => textOf(env, name) !== undefined
  /** Returns what `act` does. An error that it throws becomes a problem, and the fallback is used instead. */
  const attempt = <Value>(what: string, act: () => Value, fallback: Value): Value => {
    try {
      return act()
    } catch (error) {
      problems.push(`${what}: ${(error as Error).message}`)
      return fallback
    }
  }
  const values = valuesOf(settings, ({ name, kind, fallback }) => {
    const text = textOf(env, name)
    if (text === undefined) return fallback
    return attempt(kind.isRepeated ? `${name}="${text}"` : name, () => kind.parse(text), fallback)
  })
  const { http, grpc, connections, webhooks, trustedProxies } = values
  const { cert, key, clientCa } = values.tls
  const tls = cert && key ? { cert, key, clientCa } : undefined
  if (has(settings.tls.cert) !== has(settings.tls.key)) {
    problems.push('ROUSE_TLS_CERT and ROUSE_TLS_KEY: give both files, or neither.')
  } else if (has(settings.tls.clientCa) && !has(settings.tls.cert)) {
    problems.push('ROUSE_TLS_CLIENT_CA: it also needs ROUSE_TLS_CERT and ROUSE_TLS_KEY.')
  }
  if (grpc.port === http.port && grpc.port !== 0) {
    problems.push(`ROUSE_GRPC_PORT="${grpc.port}": HTTP listens there. Give another port, or "off" for no gRPC.`)
  }
  if (values.busUrl !== undefined && values.databaseUrl === undefined) {
    const remedy = 'set ROUSE_DATABASE_URL too, or unset this.'
    problems.push(`ROUSE_BUS_URL: the bus connects the gateways of one PostgreSQL: ${remedy}`)
  }
  const allow = has(settings.webhooks.allow) ? webhooks.allow : allowedByDefault(http.host, http.publicUrl)
  attempt('ROUSE_WEBHOOK_ALLOW', () => void createAddressPolicy(allow), undefined)
  attempt('ROUSE_TRUSTED_PROXIES', () => void createClientAddress(trustedProxies), undefined)
  // Every connection through a proxy has the proxy's address.
  const isBehindProxy = isLoopbackHost(http.host) || (http.publicUrl !== undefined && tls === undefined)
  const perAddress = has(settings.connections.perAddress) || !isBehindProxy ? connections.perAddress : 0
  const config = {
    ...values,
    tls,
    connections: { ...connections, perAddress },
    jwtIssuers: attempt('ROUSE_JWT_ISSUERS', () => issuersOf(values.jwtIssuers), []),
    webhooks: { ...webhooks, allow },
    mailArchive: has(settings.mailArchive) ? values.mailArchive : join(values.dataDir, 'archive'),
    otlpEndpoint: otlpEndpointOf(env, has(settings.otlpEndpoint), values.otlpEndpoint),
  }
  if (problems.length === 0) return config
  throw new Error(`The configuration is not valid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
}

/** Returns the trimmed text. Undefined: the variable is not set, or is empty. */
function textOf(env: Env, name: string): string | undefined {
  return env[name]?.trim() || undefined
}

/** Reads a JSON text, or the file that it names. */
function issuersOf(text: string | undefined): readonly JwtIssuer[] {
  if (text === undefined) return []
  return parseJwtIssuers(text.startsWith('[') ? text : readFileSync(text, 'utf8'))
}

/**
 * The variables of OpenTelemetry are understood too: a person who has a collector has set them for all programs. They are meant for others as
 * well, so one that this gateway cannot use is no problem of its start. Source: OpenTelemetry, environment variable specification.
 */
function otlpEndpointOf(env: Env, isSet: boolean, own: string | undefined): string | undefined {
  const word = (name: string): string => textOf(env, name)?.toLowerCase() ?? ''
  const exporter = word('OTEL_TRACES_EXPORTER')
  if (word('OTEL_SDK_DISABLED') === 'true' || exporter === 'none') return undefined
  if (isSet) return own
  const protocol = word('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') || word('OTEL_EXPORTER_OTLP_PROTOCOL')
  const standard = textOf(env, 'OTEL_EXPORTER_OTLP_ENDPOINT') ?? ''
  const isForUs = ['', 'otlp'].includes(exporter) && protocol !== 'grpc' && /^https?:\/\//i.test(standard)
  return isForUs && URL.canParse(standard) ? standard : undefined
}
