import { inspect } from 'node:util'
import { isJsonObject, type JsonObject } from '../lib/json.ts'
import { escaped, replaceUnseen } from '../lib/unseen.ts'

const valueMax = 200
const plainValue = /^[\w@:.,/+-]+$/

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
