import { format } from 'node:util'
import { escaped, replaceUnseen } from '../../lib/unseen.ts'
import type { Logger } from '../../logger/logger.ts'

const textMax = 2_000

/** The console methods that are redirected, and their level in the log. Our own code logs failures itself. */
const levels = {
  error: 'warn',
  warn: 'debug',
  log: 'debug',
  info: 'debug',
  debug: 'debug',
  trace: 'debug',
} as const satisfies Partial<Record<keyof Console, keyof Logger>>

type Printing = { -readonly [Method in keyof typeof levels]: (...values: unknown[]) => void }

/**
 * Redirects what libraries print to the console into the log, one JSON line each. Libraries print what clients sent: a line break
 * in a path would let a client write lines of its own between the gateway's.
 */
export function logConsole(console: Printing, log: Logger): void {
  for (const [method, level] of Object.entries(levels) as [
    keyof typeof levels,
    (typeof levels)[keyof typeof levels],
  ][]) {
    console[method] = (...values: unknown[]) =>
      log[level]({ method, text: oneLine(format(...values)) }, 'console.printed')
  }
}

/** The text, cut, with an escape for every character that moves the cursor, changes the direction, ends a line or is not seen. */
function oneLine(text: string): string {
  const cut = text.length <= textMax ? text : `${text.slice(0, textMax)}…`
  return replaceUnseen(cut.toWellFormed(), escaped)
}
