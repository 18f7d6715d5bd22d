import { type Format, hasPiece, type Piece, samePiece, type Written } from '../../config-files/document.ts'

/** What a file becomes. `text` is what it was where nothing changes. */
export interface Plan {
  readonly text: string
  readonly written: readonly Written[]
  /** What was removed, and was not asked for any more. */
  readonly removed: readonly Written[]
  /** Wanted pieces that were there, written by somebody else: they stay when everything is removed. */
  readonly foreign: readonly Piece[]
  /** Written pieces that somebody has changed since: they stay as they are. */
  readonly changed: readonly Written[]
}

/**
 * What is to be done so that a file has the wanted pieces, and of those that were written earlier no others. Pure. Errors: a
 * `DocumentError` where a wanted property is there with another value, or where the text cannot be dealt with.
 */
export function planFile(
  format: Format,
  original: string,
  wanted: readonly Piece[],
  earlier: readonly Written[],
): Plan {
  let text = original
  let kept: Written[] = []
  const removed: Written[] = []
  const changed: Written[] = []
  const before = format.parse(original)
  // The newest first: an older one may have made the object that a newer one is in.
  for (const one of [...earlier].reverse()) {
    if (hasPiece(before, one) && wanted.some((piece) => samePiece(piece, one))) {
      kept = [one, ...kept]
      continue
    }
    const removal = format.remove(text, one)
    if (removal.outcome === 'removed') removed.push(one)
    if (removal.outcome === 'changed') changed.push(one)
    text = removal.text
  }
  const written = [...kept]
  const foreign: Piece[] = []
  for (const piece of wanted) {
    if (kept.some((one) => samePiece(one, piece))) continue
    const document = format.parse(text)
    if (hasPiece(document, piece)) {
      foreign.push(piece)
      continue
    }
    const inserted = format.insert(text, piece)
    text = inserted.text
    written.push(inserted.written)
  }
  return { text, written, removed, foreign, changed }
}
