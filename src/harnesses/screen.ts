/** How the screen of a program reads that may be typed into. A screen that does not read so is left alone. */
export interface Screen {
  /** The path of the program, or of the script that Node runs. */
  readonly path: RegExp
  /** The first row of its composer, up to the text. */
  readonly composer: RegExp
  /** The row below the composer. */
  readonly composerEnd: RegExp
  /** Where its composer has a frame: the row above it. A prompt in a transcript has none. */
  readonly composerBegin?: RegExp
  /** The text of the composer while it is empty, where that is not drawn faint. */
  readonly placeholder?: RegExp
  /** Decoration at the ends of the composer's rows. */
  readonly edge?: RegExp
  /** It leaves the terminal's cursor in its composer. */
  readonly hasCursor?: true
  /** It works on a turn. */
  readonly busy: RegExp
  /** It asks its user something. */
  readonly approval: RegExp
}

/** A row of a frame. */
export const rule = /^\s*[─━▀▄╭╰┌└]{3,}/u

/** The sides of a frame. */
export const boxed = /^\s*[│┃]|[│┃]\s*$/gu
