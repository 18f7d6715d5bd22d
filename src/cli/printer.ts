import type { Io } from './io.ts'

/** Standard output in the form that was asked for: text for people, or JSON for programs. */
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
    result: (value, text) => io.stdout(json ? `${JSON.stringify(value, null, 2)}\n` : text()),
    item: (value, text) => io.stdout(json ? `${JSON.stringify(value)}\n` : `${text()}\n`),
    note: (text) => io.stderr(`${text}\n`),
  }
}
