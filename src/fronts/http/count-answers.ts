import { ServerResponse } from 'node:http'
import type { Express, Response } from 'express'
import type { AnswerReader, UnreadAnswers } from '../../admission/unread-answers.ts'
import type { Problem } from '../../errors.ts'
import type { Caller } from '../../registry/callers/caller.ts'

/** The bytes that a socket accepts without waiting for its reader. */
const smallBytes = 16 * 1024

/**
 * Counts every answer until its reader has read it, for each agent or, without a key, for each address. An answer above the limit is
 * replaced by `refuse`.
 */
export function countAnswers(
  app: Express,
  unread: UnreadAnswers,
  refuse: (res: Response, error: unknown) => void,
): void {
  const end = ServerResponse.prototype.end as (this: Response, ...given: unknown[]) => Response
  app.response.end = function (this: Response, ...given: unknown[]) {
    // Nobody reads the answer of a client that has gone away. Node would make an exception of it.
    if (this.closed) return this
    const bytes = sizeOf(given[0])
    if (bytes < smallBytes) return end.apply(this, given)
    const caller = this.locals?.caller as Caller | undefined
    const reader: AnswerReader = caller ?? { address: String(this.req.socket.remoteAddress) }
    try {
      if (!this.headersSent) unread.requireRoom(reader, bytes)
    } catch (problem) {
      for (const name of ['Content-Length', 'ETag']) this.removeHeader(name)
      refuse(this, problem as Problem)
      return this
    }
    const taken = unread.add(reader, bytes)
    this.once('close', taken)
    return end.apply(this, given)
  } as Response['end']
}

function sizeOf(chunk: unknown): number {
  if (typeof chunk === 'string') return Buffer.byteLength(chunk)
  return chunk instanceof Uint8Array ? chunk.length : 0
}
