import type { Readable, Writable } from 'node:stream'

/** A longer line is passed on in pieces, unread: an image, a file. */
const lineBytesMax = 16 * 1024 * 1024

/** Reads a stream line by line, each with its end, and writes lines to another one. Bytes are never changed. */
export class LinePump {
  readonly #to: Writable
  readonly #from: Readable
  readonly #noteLine: (line: Buffer) => void
  #parts: Buffer[] = []
  #size = 0
  #isPassing = false
  readonly #waiting: (Buffer | string)[] = []

  /** Resolves when there is nothing more to read. */
  readonly ended: Promise<void>

  constructor(from: Readable, to: Writable, noteLine: (line: Buffer) => void) {
    this.#from = from
    this.#to = to
    this.#noteLine = noteLine
    this.ended = new Promise((resolve) => {
      from.on('data', (chunk: Buffer) => this.#read(chunk))
      from.once('end', () => {
        // Its reader decides about a line without an end.
        if (this.#size > 0) this.#put(Buffer.concat(this.#parts))
        resolve()
      })
      from.once('close', () => resolve())
      from.once('error', () => resolve())
    })
  }

  /** Writes a whole line; if another one is being written in pieces, after that. The source waits while the reader is slow. */
  write(line: Buffer | string): void {
    if (this.#isPassing) this.#waiting.push(line)
    else this.#put(line)
  }

  #put(part: Buffer | string): void {
    if (!this.#to.writable || this.#to.write(part)) return
    this.#from.pause()
    this.#to.once('drain', () => this.#from.resume())
  }

  #read(chunk: Buffer): void {
    let at = 0
    for (let end = chunk.indexOf(10, at); end >= 0; end = chunk.indexOf(10, at)) {
      this.#take(chunk.subarray(at, end + 1), true)
      at = end + 1
    }
    if (at < chunk.length) this.#take(chunk.subarray(at), false)
  }

  #take(part: Buffer, isEnd: boolean): void {
    if (this.#isPassing) {
      this.#put(part)
      this.#isPassing = !isEnd
      if (isEnd) for (const line of this.#waiting.splice(0)) this.#put(line)
      return
    }
    this.#parts.push(part)
    this.#size += part.length
    if (!isEnd && this.#size <= lineBytesMax) return
    const whole = this.#parts.length === 1 ? part : Buffer.concat(this.#parts)
    this.#parts = []
    this.#size = 0
    this.#isPassing = !isEnd
    if (isEnd) this.#noteLine(whole)
    else this.#put(whole)
  }
}
