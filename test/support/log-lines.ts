import type { Logger } from '../../src/logger/logger.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever a line says
type Line = { readonly level: string; readonly event: string } & Record<string, any>

/** A logger that keeps every line of the levels that it shows. */
export function logLines(least: 'debug' | 'info' | 'warn' = 'debug') {
  const lines: Line[] = []
  const order = ['debug', 'info', 'warn', 'error']
  const keep = (level: string) => (fields: object, event: string) => {
    if (order.indexOf(level) >= order.indexOf(least)) lines.push({ level, event, ...fields })
  }
  const log: Logger = {
    debug: keep('debug'),
    info: keep('info'),
    warn: keep('warn'),
    error: keep('error'),
    shows: (level) => order.indexOf(level) >= order.indexOf(least),
  }
  return { log, lines, of: (event: string) => lines.filter((line) => line.event === event) }
}
