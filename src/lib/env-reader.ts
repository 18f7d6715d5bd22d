export type Env = Readonly<Record<string, string | undefined>>

const dayMs = 24 * 60 * 60 * 1000
const daysMax = 36_500

/** Reads environment variables. A value that is not valid becomes a problem, and its default is used instead. */
export class EnvReader {
  /** One sentence for each value that is not valid, with its variable and the remedy. */
  readonly problems: string[] = []
  readonly #env: Env

  constructor(env: Env) {
    this.#env = env
  }

  /** Returns the trimmed text. Undefined: the variable is not set, or is empty. */
  text(name: string): string | undefined {
    return this.#env[name]?.trim() || undefined
  }

  /** Returns the parts of a text that spaces or commas separate. */
  list(name: string): string[] | undefined {
    return this.text(name)
      ?.split(/[\s,]+/)
      .filter(Boolean)
  }

  /** Returns a text after `check`. An error that `check` throws becomes a problem. */
  checkedText(name: string, check: (text: string) => void): string | undefined {
    const text = this.text(name)
    if (text !== undefined) this.check(name, () => check(text))
    return text
  }

  number(name: string, fallback: number, min: number, max: number): number {
    const text = this.text(name)
    if (text === undefined) return fallback
    const value = Number(text)
    if (Number.isFinite(value) && value >= min && value <= max) return value
    this.problems.push(`${name}="${text}": give a number from ${min} to ${max}.`)
    return fallback
  }

  /** Returns one of the words, in whatever case it is given. */
  oneOf<const Word extends string>(name: string, words: readonly Word[], fallback: Word): Word {
    const text = this.text(name) ?? fallback
    const chosen = words.find((word) => word === text.toLowerCase())
    if (!chosen) this.problems.push(`${name}="${text}": give one of ${words.join(', ')}.`)
    return chosen ?? fallback
  }

  /** Returns a number of at most `max`, where 0 means no limit. */
  limit(name: string, fallback: number, max: number): number {
    return this.#whole(name, fallback, max, 'no limit')
  }

  port(name: string, fallback: number): number {
    return this.#whole(name, fallback, 65_535, 'any free port')
  }

  /** Returns a number of days, in ms. */
  daysMs(name: string, fallback = 30): number {
    return Math.round(this.number(name, fallback, 0, daysMax) * dayMs)
  }

  /** Runs `act`. An error that it throws becomes a problem. */
  check(name: string, act: () => void): void {
    try {
      act()
    } catch (error) {
      this.problems.push(`${name}: ${(error as Error).message}`)
    }
  }

  #whole(name: string, fallback: number, max: number, zero: string): number {
    const value = this.number(name, fallback, 0, max)
    if (!Number.isInteger(value)) {
      this.problems.push(`${name}="${value}": give a whole number from 0 to ${max}; 0 is ${zero}.`)
    }
    return value
  }
}
