import { Problem } from '../errors.ts'
import { newUuid } from '../lib/ids.ts'
import { beginSlice, inSlice, sliceBytes } from '../lib/pauses.ts'
import type { Database, Reader, Transaction } from '../storage/database.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'

/** A text with fewer bytes is stored in one row. */
const inPiecesFrom = 4 * sliceBytes
/** How long a message may take from one of its pieces to the next, or to its row. */
const pendingMs = 3_600_000
/** How many pieces one transaction deletes: 2 MiB. */
const deletedAtOnce = 8

const insertPending = statement<{ piecesId: string; now: number }>(
  sql`insert into task_message_pending (pieces_id, created_at) values (${p('piecesId')}, ${p('now')})`,
)
const insertPiece = statement<{ piecesId: string; nth: number; piece: Buffer }>(
  sql`insert into task_message_piece (pieces_id, nth, piece) values (${p('piecesId')}, ${p('nth')}, cast(${p('piece')} as text))`,
)
const pieceAt = statement<{ piecesId: string; nth: number }, { piece: string }>(
  sql`select piece from task_message_piece where pieces_id = ${p('piecesId')} and nth = ${p('nth')}`,
)
const renewPending = statement<{ piecesId: string; now: number }>(
  sql`update task_message_pending set created_at = ${p('now')} where pieces_id = ${p('piecesId')} and created_at > 0`,
)
const endPending = statement<{ piecesId: string }>(
  sql`delete from task_message_pending where pieces_id = ${p('piecesId')} and created_at > 0`,
)
const markDiscarded = statement<{ piecesId: string }>(
  sql`update task_message_pending set created_at = 0 where pieces_id = ${p('piecesId')}`,
)
const lastPiece = statement<{ piecesId: string }, { nth: number }>(
  sql`select nth from task_message_piece where pieces_id = ${p('piecesId')} order by nth desc limit 1`,
)
const deletePieces = statement<{ piecesId: string; from: number; to: number }>(
  sql`delete from task_message_piece where pieces_id = ${p('piecesId')} and nth >= ${p('from')} and nth <= ${p('to')}`,
)
const deleteDiscarded = statement<{ piecesId: string }>(
  sql`delete from task_message_pending where pieces_id = ${p('piecesId')} and created_at = 0`,
)
const pendingBefore = statement<{ before: number; limit: number }, { piecesId: string }>(
  sql`select pieces_id as "piecesId" from task_message_pending where created_at < ${p('before')} order by created_at ${limited}`,
)

/** The pieces of a large message that are stored before its row. */
export interface MessagePieces {
  readonly id: string
  /** How many bytes of its text are in them, from its beginning. The row has the others. */
  readonly bytes: number
}

/**
 * Stores the beginning of a message's text in pieces, each in a transaction of its own and in a slice of the sender: others write in
 * between. Undefined: the text fits into one row. What is stored is pending until `takePieces`. Errors: `storage-unavailable`.
 * @param text JSON in UTF-8
 */
export async function storePieces(db: Database, text: Buffer, by: string): Promise<MessagePieces | undefined> {
  if (text.length < inPiecesFrom) return undefined
  const piecesId = newUuid()
  let begin = 0
  try {
    for (const [nth, end] of endsOf(text).entries()) {
      const piece = text.subarray(begin, end)
      await inSlice(by, () => db.transaction((tx) => storePiece(tx, { piecesId, nth, piece })))
      begin = end
    }
  } catch (error) {
    await discardPieces(db, piecesId, by).catch(leftToPrune)
    throw error
  }
  return { id: piecesId, bytes: begin }
}

interface Piece {
  readonly piecesId: string
  readonly nth: number
  readonly piece: Buffer
}

async function storePiece(tx: Transaction, { piecesId, nth, piece }: Piece): Promise<void> {
  if (nth === 0) await tx.run(insertPending, { piecesId, now: tx.now })
  else if ((await tx.run(renewPending, { piecesId, now: tx.now })) === 0) throw tookTooLong()
  await tx.run(insertPiece, { piecesId, nth, piece })
}

/** Pieces that cannot be deleted now are deleted by `prunePieces`. */
export const leftToPrune = (): void => {}

const tookTooLong = (): Problem =>
  new Problem('storage-unavailable', { detail: 'The message took too long to be stored. Send it again.' })

/** Where the pieces of a text end: between characters, and so that something is left for the row. */
function endsOf(text: Buffer): number[] {
  const ends: number[] = []
  for (let at = sliceBytes; at < text.length; at += sliceBytes) {
    let end = at
    while (isWithinCharacter(text[end]!)) end--
    ends.push(end)
  }
  return ends
}

/** Whether a byte continues a character of UTF-8. */
const isWithinCharacter = (byte: number): boolean => (byte & 0xc0) === 0x80

/** Joins the transaction that stores the row. Errors: `storage-unavailable`, when the pieces were deleted meanwhile. */
export async function takePieces(tx: Transaction, { id }: MessagePieces): Promise<void> {
  if ((await tx.run(endPending, { piecesId: id })) === 0) throw tookTooLong()
}

/** Returns the text in the pieces, read over several iterations of the event loop: in slices of `by`. */
export async function readPieces(db: Reader, piecesId: string, by: string): Promise<string> {
  let text = ''
  for (let nth = 0; ; nth++) {
    await beginSlice(by)
    const row = await db.get(pieceAt, { piecesId, nth })
    if (!row) return text
    text += row.piece
  }
}

/** Deletes the pieces of a message that is not stored, in slices of `by`: does nothing to those of one that is. Errors: `storage-unavailable`. */
export async function discardPieces(db: Database, piecesId: string, by: string): Promise<void> {
  // From here on no transaction takes them. If this is interrupted, `prunePieces` goes on.
  if ((await db.transaction((tx) => tx.run(markDiscarded, { piecesId }))) === 0) return
  for (let last = await db.get(lastPiece, { piecesId }); last; last = await db.get(lastPiece, { piecesId })) {
    const range = { piecesId, from: last.nth + 1 - deletedAtOnce, to: last.nth }
    await inSlice(by, () => db.transaction((tx) => tx.run(deletePieces, range)))
  }
  await db.transaction((tx) => tx.run(deleteDiscarded, { piecesId }))
}

/** Deletes the pieces of messages that were not stored, within an hour: after a crash, or an outage of the store. Returns of how many. */
export async function prunePieces(db: Database, now: number, signal: AbortSignal): Promise<number> {
  const found = await db.all(pendingBefore, { before: now - pendingMs, limit: 1_000 })
  let pruned = 0
  for (const { piecesId } of found) {
    if (signal.aborted) break
    await discardPieces(db, piecesId, '')
    pruned++
  }
  return pruned
}
