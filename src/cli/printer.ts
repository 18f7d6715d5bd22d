import { isJsonObject } from '../lib/json.ts'
import type { Io } from './io.ts'

/** Prints to standard output: text for people, or JSON for programs. */
export interface Printer {
  readonly json: boolean
  /** The one result of a command. */
  result(value: unknown, text: () => string): void
  /** One item of a stream: one line. */
  item(value: unknown, text: () => string): void
  /** Something for the person at the terminal, never part of the result. */
  note(text: string): void
}

export function createPrinter(io: Io, json: boolean): Printer {
  return {
    json,
    result: (value, text) => {
      io.stdout(json ? `${JSON.stringify(value, null, 2)}\n` : text())
      if (!json) noteMail(io, value)
    },
    item: (value, text) => io.stdout(json ? `${JSON.stringify(value)}\n` : `${text()}\n`),
    note: (text) => io.stderr(`${text}\n`),
  }
}

/** Notes mail that came with an answer. It stays in the inbox. Source: S4-13. */
function noteMail(io: Io, value: unknown): void {
  const signals = isJsonObject(value) ? value.pendingSignals : undefined
  if (!Array.isArray(signals) || signals.length === 0) return
  const count = signals.length === 1 ? '1 new message' : `${signals.length} new messages`
  io.stderr(`${count}: rouse inbox --unread\n`)
}
