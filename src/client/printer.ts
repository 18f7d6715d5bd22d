import type { Io } from './io.ts'
import { escapeObeyed } from './terminal-text.ts'

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

/** Returns JSON of the same value, without characters that a terminal obeys. */
function jsonForTerminal(value: unknown, space?: number): string {
  return escapeObeyed(JSON.stringify(value, null, space))
}

/** The gateway counts to a hundred. */
const countMax = 100

function mailText(count: number): string {
  if (count >= countMax) return `${countMax} or more new messages`
  return count === 1 ? '1 new message' : `${count} new messages`
}
