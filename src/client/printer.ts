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
  /** How much mail waits for the agent, as an answer says. */
  mail(count: number): void
  /** Prints a note about waiting mail after the output. The mail itself was not taken: it stays in the inbox. Source: S4-13. */
  noteMail(): void
}

export function createPrinter(io: Io, json: boolean): Printer {
  let waiting = 0
  const noteMail = () => {
    if (waiting > 0 && !json) io.stderr(`${mailText(waiting)}: rouse inbox --unread\n`)
    waiting = 0
  }
  return {
    json,
    result: (value, text) => {
      io.stdout(json ? `${jsonForTerminal(value, 2)}\n` : text())
      noteMail()
    },
    item: (value, text) => io.stdout(json ? `${jsonForTerminal(value)}\n` : `${text()}\n`),
    note: (text) => io.stderr(`${text}\n`),
    mail: (count) => {
      waiting = count
    },
    noteMail,
  }
}

/** Controls that JSON leaves as they are, and a terminal obeys: DEL, C1, and those that change the direction of text. */
const obeyed = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Returns JSON of the same value, with such controls escaped. */
function jsonForTerminal(value: unknown, space?: number): string {
  return JSON.stringify(value, null, space).replace(
    obeyed,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** The gateway counts to a hundred. */
const countMax = 100

function mailText(count: number): string {
  if (count >= countMax) return `${countMax} or more new messages`
  return count === 1 ? '1 new message' : `${count} new messages`
}
