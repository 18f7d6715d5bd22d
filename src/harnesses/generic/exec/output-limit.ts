import type { UsageLimit } from '../../../bridge/adapter.ts'
import { harnesses } from '../../harnesses.ts'

/** A harness says at its end why it ends. */
const linesMax = 5
const readMax = 4_000
const hourMs = 3_600_000
/** So much of a sentence tells it from others. */
const comparedMax = 20

interface Run {
  readonly command: string
  /** All that the run was given to read: the words of others. */
  readonly given: unknown
  /** ms since the epoch */
  readonly now: number
}

/** The last lines of what a command prints that are not empty. */
export class LastLines {
  #lines: string[] = []

  add(line: string): void {
    if (line.trim() !== '') this.#lines = [...this.#lines, line.slice(0, readMax)].slice(-linesMax)
  }

  /**
   * Returns the limit that a harness names in them: the one that the command names, or any of them where it names none, such as a script. A
   * sentence that stands in what the run was given is a peer's. A cap is looked at again after an hour, as the words are no proof. Pure.
   */
  limitOf({ command, given, now }: Run): UsageLimit | undefined {
    const named = harnesses.filter(({ binary }) => words(command).includes(binary))
    const found = this.#lines.flatMap((line) =>
      (named.length > 0 ? named : harnesses).flatMap(({ limitIn }) => limitIn?.(line, now) ?? []),
    )
    const limit = found.at(-1)
    if (limit === undefined || folded(given).includes(fold(limit.detail ?? '').slice(0, comparedMax))) return undefined
    return { ...limit, until: limit.until ?? now + hourMs }
  }
}

const words = (command: string): readonly string[] => command.split(/[^\w.-]+/)

/** A harness wraps, indents and quotes what it prints. */
const fold = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, '')

function folded(given: unknown): string {
  const texts: string[] = []
  JSON.stringify(given, (_key, value) => {
    if (typeof value === 'string') texts.push(value)
    return value
  })
  return fold(texts.join(''))
}
