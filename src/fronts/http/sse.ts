import { once } from 'node:events'
import { ServerResponse } from 'node:http'
import type { Request, Response } from 'express'
import type { AnswerReader, UnreadAnswers } from '../../admission/unread-answers.ts'
import { slotOf } from './admit-request.ts'
import { untilGone } from './until-gone.ts'

/** Comments this often keep proxies from closing a quiet stream. */
export const keepAliveMs = 15_000

/** Returns a signal that aborts when the client disconnects, or when one of the others aborts. For requests that stay open: they free their slot. */
export function untilClosed(_req: Request, res: Response, ...others: AbortSignal[]): AbortSignal {
  slotOf(res).release()
  return untilGone(res, ...others)
}

/** The headers of a stream. */
export const streamHeaders = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache',
  // The stream is the last answer of its connection, which then closes.
  Connection: 'close',
  'X-Accel-Buffering': 'no',
}

/** The reader of a stream. */
interface Reader {
  readonly caller: AnswerReader
  /** Aborts when the reader's key is revoked. */
  readonly revoked: AbortSignal
  /** The data of the last event of a reader whose key was revoked. */
  readonly farewell: () => object
}

/**
 * A live answer. It counts the bytes that its reader has not read, is kept open with comments, and ends at the moment at which the
 * reader's key is revoked: nothing is written after that.
 */
export class EventStream {
  readonly #res: Response
  readonly #reader: Reader
  readonly #unread: UnreadAnswers
  #taken = () => {}
  #drained: Promise<void> | undefined

  constructor(res: Response, reader: Reader, unread: UnreadAnswers) {
    this.#res = res
    this.#reader = reader
    this.#unread = unread
    // No further `close` tells that a stream is over whose client has gone away already.
    if (res.closed) return
    const keepAlive = setInterval(() => {
      // A reader that does not read needs no comment.
      if (res.headersSent && res.writableLength === 0) this.write(': keep-alive\n\n')
    }, keepAliveMs)
    const end = (): void => this.#end()
    reader.revoked.addEventListener('abort', end, { once: true })
    res.once('close', () => {
      clearInterval(keepAlive)
      reader.revoked.removeEventListener('abort', end)
      this.#taken()
    })
  }

  /** Writes a whole event or a comment, unless the stream has ended. */
  write(text: string): boolean {
    const res = this.#res
    if (res.closed || res.writableEnded || this.#reader.revoked.aborted) return false
    const isTaken = ServerResponse.prototype.write.call(res, text, 'utf8')
    if (isTaken) return true
    res.off('drain', this.#taken)
    this.#taken()
    const taken = this.#unread.add(this.#reader.caller, res.writableLength)
    this.#taken = taken
    res.once('drain', taken)
    return false
  }

  /**
   * Resolves when the reader has read everything that was written, or the signal aborts, which is the same for all who write to a stream. So
   * nothing is loaded ahead of a slow reader. All who wait share one listener.
   */
  async taken(signal: AbortSignal): Promise<void> {
    if (!this.#res.writableNeedDrain || signal.aborted) return
    this.#drained ??= once(this.#res, 'drain', { signal })
      .catch(() => {})
      .then(() => {
        this.#drained = undefined
      })
    await this.#drained
  }

  #end(): void {
    const res = this.#res
    if (!res.headersSent || res.writableEnded) return
    // Unread bytes are dropped: their key is no longer valid.
    if (res.writableLength > 0) res.destroy()
    else res.end(`event: error\ndata: ${JSON.stringify(this.#reader.farewell())}\n\n`)
  }
}
