import { createAddressPolicy } from './security/address-policy.ts'
import { SecretBox } from './security/secret.ts'
import { isLocalhost } from './security/url-guard.ts'

export interface Config {
  readonly http: { readonly host: string; readonly port: number; readonly publicUrl: string | undefined }
  readonly dataDir: string
  /** Given keys win over those kept in the data directory. */
  readonly adminKey: string | undefined
  readonly encryptionKeys: readonly string[] | undefined
  readonly webhooks: { readonly allow: readonly string[]; readonly timeoutMs: number }
  /** 0 keeps for ever. */
  readonly retention: { readonly eventsMs: number; readonly deliveriesMs: number }
  readonly a2a: { readonly blockingTimeoutMs: number }
  readonly logLevel: string
}

export type Env = Readonly<Record<string, string | undefined>>

/** The only reader of the process's environment. */
export function readEnv(): Env {
  return process.env
}

const logLevels = ['silent', 'error', 'warn', 'info', 'debug']
const dayMs = 24 * 60 * 60 * 1000
const daysMax = 36_500
const loopback = ['127.0.0.0/8', '::1/128']

/** Applies the defaults. Throws one Error that lists every problem, each with its variable and the remedy. */
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
  const days = (name: string): number => Math.round(number(name, 30, 0, daysMax) * dayMs)
  const text = (name: string): string | undefined => env[name]?.trim() || undefined
  const check = (name: string, act: () => void): void => {
    try {
      act()
    } catch (error) {
      problems.push(`${name}: ${(error as Error).message}`)
    }
  }

  for (const name of ['ROUSE_DATABASE_URL', 'ROUSE_BUS_URL', 'ROUSE_JWT_ISSUERS']) {
    if (text(name)) problems.push(`${name}: this build has the embedded store and API keys only. Unset it.`)
  }
  const host = text('ROUSE_HOST') ?? '127.0.0.1'
  const allowed = text('ROUSE_WEBHOOK_ALLOW')
  const allow = allowed === undefined ? (isLoopback(host) ? loopback : []) : cidrs(allowed)
  check('ROUSE_WEBHOOK_ALLOW', () => createAddressPolicy(allow))
  const encryptionKeys = text('ROUSE_ENCRYPTION_KEY')
    ?.split(/[\s,]+/)
    .filter(Boolean)
  if (encryptionKeys) check('ROUSE_ENCRYPTION_KEY', () => new SecretBox(encryptionKeys))
  const adminKey = text('ROUSE_ADMIN_KEY')
  if (adminKey && adminKey.length < 16)
    problems.push('ROUSE_ADMIN_KEY: at least 16 characters (openssl rand -base64 32).')
  const publicUrl = text('ROUSE_PUBLIC_URL')?.replace(/\/+$/, '')
  if (publicUrl) check('ROUSE_PUBLIC_URL', () => requireHttp(publicUrl))
  const logLevel = text('ROUSE_LOG_LEVEL') ?? 'warn'
  if (!logLevels.includes(logLevel)) problems.push(`ROUSE_LOG_LEVEL="${logLevel}": one of ${logLevels.join(', ')}.`)

  const config: Config = {
    http: { host, port: port('ROUSE_PORT', 4520), publicUrl },
    dataDir: text('ROUSE_DATA_DIR') ?? '.rouse',
    adminKey,
    encryptionKeys,
    webhooks: { allow, timeoutMs: number('ROUSE_WEBHOOK_TIMEOUT', 10, 1, 30) * 1000 },
    retention: {
      eventsMs: days('ROUSE_RETENTION_DAYS'),
      deliveriesMs: days('ROUSE_DELIVERY_RETENTION_DAYS'),
    },
    a2a: { blockingTimeoutMs: number('ROUSE_BLOCKING_TIMEOUT', 300, 0, 86_400) * 1000 },
    logLevel,
  }
  if (problems.length > 0)
    throw new Error(`The configuration is not valid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
  return config
}

/** `none` is a list of none: the only way to close loopback too while the gateway listens there. */
function cidrs(text: string): string[] {
  return text.toLowerCase() === 'none' ? [] : text.split(/[\s,]+/).filter(Boolean)
}

function isLoopback(host: string): boolean {
  return isLocalhost(host) || host === '::1' || /^127\./.test(host)
}

function requireHttp(text: string): void {
  const { protocol } = new URL(text)
  if (protocol !== 'http:' && protocol !== 'https:') throw new Error('give an http or https URL.')
}
