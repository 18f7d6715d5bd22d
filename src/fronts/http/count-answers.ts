import type { Response } from 'express'
import type { AnswerReader, UnreadAnswers } from '../../admission/unread-answers.ts'
import type { Problem } from '../../errors.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { EndAnswer } from './express-messages.ts'

/** The bytes that a socket accepts without waiting for its reader. */
const smallBytes = 16 * 1024

/**
 * Returns an end that counts every answer until its reader has read it, for each agent or, without a key, for each address. An answer above the limit is
 * replaced by `refuse`.
 */
export function countAnswers(
  unread: UnreadAnswers,
  refuse: (res: Response, error: unknown) => void,
  end: EndAnswer,
): EndAnswer {
  return (res, given) => {
    // Nobody reads the answer of a client that has gone away. Node would make an exception of it.
    if (res.closed) return res
    const bytes = sizeOf(given[0])
    if (bytes < smallBytes) return end(res, given)
    const caller = res.locals?.caller as Caller | undefined
    const reader: AnswerReader = caller ?? { address: String(res.req.socket.remoteAddress) }
    try {
      if (!res.headersSent) unread.requireRoom(reader, bytes)
    } catch (problem) {
      for (const name of ['Content-Length', 'ETag']) res.removeHeader(name)
      refuse(res, problem as Problem)
      return res
    }
    const taken = unread.add(reader, bytes)
    res.once('close', taken)
    return end(res, given)
  }
}

function sizeOf(chunk: unknown): number {
  if (typeof chunk === 'string') return Buffer.byteLength(chunk)
  return chunk instanceof Uint8Array ? chunk.length : 0
}
