/** Prints each step as it happens, with the milliseconds since the peer's message was sent. */
export class Story {
  readonly #print: (text: string) => void
  #sentAt: number | undefined

  constructor(print: (text: string) => void) {
    this.#print = print
  }

  /** Sets the clock to zero. Instants are ms since the epoch, with fractions, comparable between processes. */
  startClock(at: number): void {
    this.#sentAt = at
  }

  tell(who: string, what: string, at = instant()): void {
    const time = this.#sentAt === undefined ? '' : `+${(at - this.#sentAt).toFixed(1)} ms`
    this.#print(`${time.padStart(11)}  ${who.padEnd(8)} ${what}`)
  }

  summarise(lines: readonly string[]): void {
    this.#print('')
    for (const line of lines) this.#print(line)
  }
}

/** Now, in ms since the epoch with fractions. */
export function instant(): number {
  return performance.timeOrigin + performance.now()
}
