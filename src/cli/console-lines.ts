import { format } from 'node:util'
import type { Logger } from '../logger.ts'

const textMax = 2_000

/** What of the console is taken over, and how loud it is in the log: our own code logs failures itself. */
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
 * Has everything that libraries print to the console go to the log, one JSON line each. They print what clients sent: as it is,
 * a line break in a path would begin a line of the client's own between the gateway's.
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

/** Cut, with every character that moves a cursor, turns the direction or ends a line as its escape. */
function oneLine(text: string): string {
  const cut = text.length <= textMax ? text : `${text.slice(0, textMax)}…`
  return cut.toWellFormed().replace(unprintable, escaped)
}

const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`
}
