import type { AnswerReader } from '../../../admission/unread-answers.ts'
import type { StreamReader } from '../../../wake-stream/wake-stream.ts'

/** How wakes travel to one reader: server-sent events, or a WebSocket. Both carry the same fields. */
export interface WakeTransport extends StreamReader {
  /** Answers the request. Nothing is written before that. */
  open(): Promise<void>
  /** Ends the answer. What its reader has not read is dropped where the key has too many unread bytes: those wakes have no receipt. */
  close(): void
}

/** The key of a reader, and what happens when it is revoked. */
export interface TransportReader {
  readonly caller: AnswerReader
  readonly revoked: AbortSignal
  /** The problem that a reader whose key was revoked is sent last. */
  readonly farewell: () => object
  /** Ends the stream. */
  readonly leave: () => void
}
