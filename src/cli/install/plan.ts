import { type Format, hasPiece, type Piece, samePiece, type WrittenPiece } from '../../config-files/document.ts'

/** The text that a file becomes. `text` is the present one where nothing changes. */
export interface Plan {
  readonly text: string
  readonly written: readonly WrittenPiece[]
  /** Removed pieces, which are no longer wanted. */
  readonly removed: readonly WrittenPiece[]
  /** Wanted pieces that were there already and were not written by us: they stay when everything is removed. */
  readonly foreign: readonly Piece[]
  /** Written pieces that were changed later: they stay unchanged. */
  readonly changed: readonly WrittenPiece[]
}

/**
 * Plans how a file gets the wanted pieces, and loses the pieces that were written earlier and are no longer wanted. Pure. Errors: a
 * `DocumentError` if a wanted property is there with another value, or if the text cannot be edited.
 */
export function planFile(
  format: Format,
  original: string,
  wanted: readonly Piece[],
  earlier: readonly WrittenPiece[],
): Plan {
  let text = original
  let kept: WrittenPiece[] = []
  const removed: WrittenPiece[] = []
  const changed: WrittenPiece[] = []
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
