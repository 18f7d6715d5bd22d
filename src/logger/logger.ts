/** One wide event per unit of work: fields first, then a dotted past-tense name. Ids only: no texts, bodies, keys or URLs. */
export interface Logger {
  debug(fields: object, event: string): void
  info(fields: object, event: string): void
  warn(fields: object, event: string): void
  error(fields: object, event: string): void
  /** True when lines of this level are written. A logger without it writes all of them. It never changes. */
  shows?(level: 'debug' | 'info'): boolean
}

/** True when a line is worth building: what the level hides must cost nothing. */
export function isShown(log: Logger, level: 'debug' | 'info'): boolean {
  return log.shows?.(level) ?? true
}

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {}, shows: () => false }
