import type { Response as ExpressResponse, Request } from 'express'
import type { UnreadAnswers } from '../../../admission/unread-answers.ts'
import { type OpenCall, revoked } from '../../../identity/open-calls.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import { EventStream, streamHeaders } from '../../http/sse.ts'
import { problemBody } from '../../problem-body.ts'
import { shownLine } from '../unknown-name.ts'

interface Sending {
  readonly req: Request
  readonly res: ExpressResponse
  readonly caller: Caller
  readonly openCall: Pick<OpenCall, 'signal'>
  readonly unread: UnreadAnswers
  /** Aborts when the client is gone, or nothing more may be sent. */
  readonly signal: AbortSignal
}

/** Characters of each text of a refusal. */
const refusalTextMax = 500

/** Sends an answer of the SDK. A stream waits for its reader; what was not read counts towards the limit of the key. */
export async function sendAnswer(answer: Response, sending: Sending): Promise<void> {
  const type = answer.headers.get('content-type') ?? ''
  if (answer.body === null) return void sending.res.status(answer.status).end()
  if (type.startsWith('text/event-stream')) return streamBody(answer.body, sending)
  const text = await answer.text()
  sendJson(sending, answer.status, answer.status >= 400 ? boundedRefusal(text) : text)
}

/** Sends JSON, as the one event of a stream where the client takes nothing else. */
export function sendJson({ req, res }: Pick<Sending, 'req' | 'res'>, status: number, text: string): void {
  const isEvent = status === 200 && req.accepts(['application/json', 'text/event-stream']) === 'text/event-stream'
  res.status(status).setHeader('Content-Type', isEvent ? 'text/event-stream' : 'application/json')
  res.end(isEvent ? `event: message\ndata: ${text}\n\n` : text)
}

/** A refusal of the SDK, which repeats names and versions of the request as they came: each text is one line of bounded length. */
function boundedRefusal(json: string): string {
  const bounded = (key: string, value: unknown): unknown =>
    typeof value === 'string' && key !== 'id' ? shownLine(value, refusalTextMax) : value
  return JSON.stringify(JSON.parse(json, bounded))
}

async function streamBody(body: ReadableStream<Uint8Array>, sending: Sending): Promise<void> {
  const { res, caller, openCall, unread, signal } = sending
  const farewell = (): object => problemBody(revoked(), '/mcp')
  const stream = new EventStream(res, { caller, revoked: openCall.signal, farewell }, unread)
  const reader = body.getReader()
  const cancel = (): void => void reader.cancel().catch(() => {})
  signal.addEventListener('abort', cancel, { once: true })
  // The stream is the last answer of its connection, which then closes.
  res.writeHead(200, streamHeaders)
  res.flushHeaders()
  const decoder = new TextDecoder()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      stream.write(decoder.decode(next.value, { stream: true }))
      await stream.taken(signal)
    }
  } finally {
    signal.removeEventListener('abort', cancel)
    if (!res.writableEnded) res.end()
  }
}
