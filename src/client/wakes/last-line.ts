import { clip, plain } from '../terminal-text.ts'

const lengthMax = 200
/** Of a line without an end. */
const keptMax = 4_096

/** The last line of what a program prints that is not empty, as text of others is shown. */
export class LastLine {
  #last = ''
  #rest = ''

  add(text: string): void {
    const lines = (this.#rest + text).split(/[\r\n]/)
    this.#rest = lines.pop()!.slice(0, keptMax)
    this.#last = lines.findLast((line) => line.trim() !== '') ?? this.#last
  }

  get text(): string {
    return clip(plain(this.#rest.trim() === '' ? this.#last : this.#rest).trim(), lengthMax)
  }
}
