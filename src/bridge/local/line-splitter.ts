/** A line is longer than it may be. */
export class LineTooLong extends Error {}

/** Makes lines of the bytes of a connection. What is left of the last one waits for its end. */
export class LineSplitter {
  readonly #bytesMax: number
  #rest: Buffer = Buffer.alloc(0)

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Returns the lines that are complete now, without the empty ones. Errors: `LineTooLong`. */
  push(chunk: Buffer): string[] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const lines: string[] = []
    let from = 0
    for (let end = bytes.indexOf(10, from); end >= 0; end = bytes.indexOf(10, from)) {
      this.#requireShort(end + 1 - from)
      const line = bytes.toString('utf8', from, end).trim()
      if (line !== '') lines.push(line)
      from = end + 1
    }
    this.#requireShort(bytes.length - from)
    this.#rest = Buffer.from(bytes.subarray(from))
    return lines
  }

  #requireShort(bytes: number): void {
    if (bytes > this.#bytesMax) throw new LineTooLong(`a line may have ${this.#bytesMax} bytes`)
  }
}
