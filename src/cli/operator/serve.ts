import { format } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Io } from '../../client/io.ts'
import type { Printer } from '../../client/printer.ts'
import { openSecretFiles } from '../../client/secret-files.ts'
import { escaped, replaceUnseen } from '../../lib/unseen.ts'
import type { Logger } from '../../logger/logger.ts'
import { readConfig } from './read-config.ts'
import { serveGateway } from './serve-gateway.ts'
import { unknownVariables } from './unknown-variables.ts'

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

/** Serves a gateway with the configuration of an environment, until the signal aborts. Errors: of the configuration, and of the start. */
export async function serve(io: Io, env: Io['env'], print: Printer): Promise<void> {
  keepHeapSmall()
  const [{ envToConfig }, { createApp }, { createLogger }] = await Promise.all([
    import('../../config/config.ts'),
    import('../../gateway/app.ts'),
    import('../../logger/create-logger.ts'),
  ])
  const config = readConfig(envToConfig, env)
  // Node opens standard error when it is first asked for it. Where that is a pipe, writes to it do not block from then on.
  void process.stderr
  const log = createLogger(config.logLevel)
  logConsole(console, log)
  for (const unknown of unknownVariables(io.env)) log.warn(unknown, 'config.unknown_variable')
  for (const open of openSecretFiles(io.env)) log.warn(open, 'config.secret_open')
  process.once('exit', () => log.flush())
  const terminal = io.isTerminal === true
  await serveGateway(() => createApp(config, { log }), config, { print, log, terminal, signal: io.signal, collect })
}

/**
 * Lets V8 collect when the heap is 1.6 times the live size of the last collection. Its default is a multiple that depends on the
 * machine's size, and it keeps the memory: 60 MB more with a backlog of 100,000 events. Collecting sooner costs CPU: a tenth more
 * at 1.4 times, nothing measurable at 2 times.
 */
function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=60')
}

/**
 * Gives back what the start needed. V8 13 (Node 24) does not do that by itself: its reducer of memory takes an idle gateway for a busy
 * one. Before V8 13 it does, unless the program has collected.
 */
function collect(): void {
  if (Number.parseInt(process.versions.v8, 10) < 13) return
  setFlagsFromString('--expose-gc')
  runInNewContext('globalThis.gc')?.({ type: 'major', flavor: 'last-resort' })
}

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
