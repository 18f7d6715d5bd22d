/** A piece from this size on is passed on as it is. */
const coarseBytes = 4_096
/** So many pieces are passed on as they come; few bodies have more. */
const passedOn = 256
/** Pieces that are smaller than this on average are fine ones. */
const fineBytes = 32

/**
 * The pieces of a body, which are as small as its sender chooses: a chunk of HTTP/1.1 or a frame of HTTP/2 may have one byte. Each costs a
 * microsecond, and 200 bytes while it waits to be read. So after the first ones small pieces are gathered before they are passed on, and a
 * body of very many fine pieces is refused.
 */
export class BodyPieces {
  readonly #max: number
  #count = 0
  #bytes = 0
  #gathered: Buffer | undefined
  #length = 0

  /** @param max how many fine pieces a body may have */
  constructor(max: number) {
    this.#max = max
  }

  /** How many there were so far. */
  get count(): number {
    return this.#count
  }

  get areTooMany(): boolean {
    return this.#count > this.#max && this.#bytes < fineBytes * this.#count
  }

  /**
   * Takes the next piece.
   * @param pass passes a piece on; returns whether more may come, as `push` of a stream does
   * @returns whether more may come
   */
  take(piece: Buffer, pass: (piece: Buffer) => boolean): boolean {
    this.#count++
    this.#bytes += piece.length
    const isPassedOn = this.#count <= passedOn || piece.length >= coarseBytes
    if (isPassedOn || this.#length + piece.length > coarseBytes) {
      const mayMore = this.passRest(pass)
      if (isPassedOn) return pass(piece)
      this.#gather(piece)
      return mayMore
    }
    this.#gather(piece)
    return true
  }

  /** Passes on what is gathered: the body is over. */
  passRest(pass: (piece: Buffer) => boolean): boolean {
    const gathered = this.#gathered?.subarray(0, this.#length)
    this.#gathered = undefined
    this.#length = 0
    return gathered === undefined || pass(gathered)
  }

  #gather(piece: Buffer): void {
    this.#gathered ??= Buffer.allocUnsafe(coarseBytes)
    piece.copy(this.#gathered, this.#length)
    this.#length += piece.length
  }
}
