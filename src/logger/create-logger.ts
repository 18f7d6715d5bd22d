import { isatty } from 'node:tty'
import { inspect } from 'node:util'
import { type DestinationStream, pino, stdSerializers, stdTimeFunctions } from 'pino'
import { Problem } from '../errors.ts'
import { isJsonObject, type JsonObject } from '../lib/json.ts'
import { escaped, replaceUnseen } from '../lib/unseen.ts'
import { DescriptorOutput, type LogOutput } from './descriptor-output.ts'
import type { Logger } from './logger.ts'

const valueMax = 200

const plainValue = /^[\w@:.,/+-]+$/

const secretNames: ReadonlySet<string> = new Set(['authorization', 'apiKey', 'signingKey', 'token', 'credentials'])

const instead = '[Redacted]'

const asItIs = (value: unknown): unknown => value

/** The log of the program. */
interface ProgramLog extends Logger {
  /** Writes what waits, before the program ends. Lines of `warn` and `error` do not wait. */
  flush(): void
}

/** The descriptor of standard error: standard output stays the program's own. */
const errorOutput = 2
const gather = 8 * 1024

/**
 * Writes JSON lines to standard error, or short lines for people where that is a terminal. `level` is a word, `time` ISO 8601.
 * Secrets are redacted by name. Lines below `warn` wait up to 100 ms for others.
 */
export function createLogger(level: string, output: LogOutput = createOutput()): ProgramLog {
  const options = {
    level,
    base: undefined,
    formatters: {
      level: (label: string) => ({ level: label }),
      log: withoutSecrets,
    },
    serializers: { err: errorFields },
    timestamp: stdTimeFunctions.isoTime,
  }
  const lines = pino(options, output as DestinationStream)
  const urgent = (write: (fields: object, event: string) => void) => (fields: object, event: string) => {
    write.call(lines, fields, event)
    output.flush()
  }
  return {
    debug: lines.debug.bind(lines),
    info: lines.info.bind(lines),
    warn: urgent(lines.warn),
    error: urgent(lines.error),
    shows: (level) => lines.isLevelEnabled(level),
    flush: () => output.end(),
  }
}

/** A store that refuses does so for every request, perhaps because its disk is full: where the code was is of no use, and long. */
function errorFields(error: Error): object {
  const all = stdSerializers.err(error)
  if (!(error instanceof Problem) || error.code !== 'storage-unavailable') return all
  const { stack: _, ...fields } = all
  return fields
}

function createOutput(): LogOutput {
  if (!isatty(errorOutput)) {
    return new DescriptorOutput(errorOutput, { gather, dropped: droppedLine })
  }
  const terminal = new DescriptorOutput(errorOutput, {
    gather: 0,
    dropped: (lines) => terminalLine(droppedLine(lines)),
  })
  return {
    write: (line) => terminal.write(terminalLine(line)),
    flush: () => terminal.flush(),
    end: () => terminal.end(),
  }
}

function droppedLine(lines: number): string {
  return `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), lines, msg: 'log.dropped' })}\n`
}

/**
 * Returns the fields of a line, without the values of fields whose names say that they are secret, here or one level below. Lines
 * carry no secrets: this is for the day on which one does. It looks at names only, because a wildcard of pino costs more than the line.
 */
function withoutSecrets(fields: object): Record<string, unknown> {
  return redacted(fields as Record<string, unknown>, (value) => (isPlain(value) ? redacted(value, asItIs) : value))
}

/** Copies nothing when nothing is secret. */
function redacted(fields: Record<string, unknown>, below: (value: unknown) => unknown): Record<string, unknown> {
  let safe = fields
  for (const name in fields) {
    const shown = secretNames.has(name) ? instead : below(fields[name])
    if (shown === fields[name]) continue
    if (safe === fields) safe = { ...fields }
    safe[name] = shown
  }
  return safe
}

/** An error has a serializer of its own, which takes its message and its stack. */
function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof Error) && !Array.isArray(value)
}

/** A line of the log as a person reads it: `12:00:01.250 info  request.answered  status=201 ms=3`. A failure's stack follows. */
export function terminalLine(json: string): string {
  const line = parsed(json)
  if (!line) return json
  const { time, level, msg, err, ...fields } = line
  const clock = String(time).slice(11, 23)
  const failure = isJsonObject(err) ? err : undefined
  const all = failure ? { ...fields, error: failure.message } : fields
  const pairs = Object.entries(all).map(([name, value]) => `${name}=${valueText(value)}`)
  const head = replaceUnseen([`${clock} ${String(level).padEnd(5)} ${msg}`, ...pairs].join(' '), escaped)
  return `${head}\n${typeof failure?.stack === 'string' ? stackText(failure.stack) : ''}`
}

function parsed(json: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(json)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : inspect(value, { breakLength: Number.POSITIVE_INFINITY, depth: 4 })
  const short = text.length > valueMax ? `${text.slice(0, valueMax)}…` : text
  return typeof value !== 'string' || plainValue.test(short) ? short : JSON.stringify(short)
}

function stackText(stack: string): string {
  const frames = stack.split('\n').filter((line) => line.startsWith('    at '))
  return frames.map((line) => `${replaceUnseen(line, escaped)}\n`).join('')
}
