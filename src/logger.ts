import { pino } from 'pino'

/** One wide event per unit of work: fields first, then a dotted past-tense name. */
export interface Logger {
  debug(fields: object, event: string): void
  info(fields: object, event: string): void
  warn(fields: object, event: string): void
  error(fields: object, event: string): void
}

const secretPaths = [
  'authorization',
  'apiKey',
  'signingKey',
  'token',
  'credentials',
  '*.authorization',
  '*.apiKey',
  '*.signingKey',
  '*.token',
  '*.credentials',
]

/** Writes JSON lines to standard error, so that standard output stays the program's own. Secrets are redacted by name. */
export function createLogger(level: string): Logger {
  return pino({ level, base: undefined, redact: secretPaths }, pino.destination({ fd: 2, sync: true })) as Logger
}

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }
