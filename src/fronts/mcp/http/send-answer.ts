import type { Response as ExpressResponse } from 'express'
import { type OpenCall, revoked } from '../../../identity/open-calls.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import { problemBody } from '../../problem-body.ts'
import { EventStream } from '../../sse.ts'
import { readerOf, type Unsent } from '../../unsent.ts'
import { shownLine } from '../unknown-name.ts'

interface Sending {
  readonly res: ExpressResponse
  readonly caller: Caller
  readonly openCall: Pick<OpenCall, 'signal'>
  readonly unsent: Unsent
  /** Aborts when the client is gone, or nothing more may be sent. */
  readonly signal: AbortSignal
}

/** Characters of each text of a refusal. */
const refusalTextMax = 500

/** Headers that are set here, or belong to the connection. */
const dropped = ['connection', 'content-length', 'mcp-session-id']

/** Sends an answer of the SDK. A stream waits for its reader; what was not read counts towards the limit of the key. */
export async function sendAnswer(answer: Response, sending: Sending): Promise<void> {
  const { res } = sending
  res.status(answer.status)
  for (const [name, value] of answer.headers) if (!dropped.includes(name)) res.setHeader(name, value)
  const type = answer.headers.get('content-type') ?? ''
  if (answer.body === null) res.end()
  else if (type.startsWith('text/event-stream')) await streamBody(answer.body, sending)
  else if (answer.status >= 400 && type.startsWith('application/json')) res.end(boundedRefusal(await answer.text()))
  else res.end(Buffer.from(await answer.arrayBuffer()))
}

/** A refusal of the SDK, which repeats names and versions of the request as they came: each text is one line of bounded length. */
function boundedRefusal(json: string): string {
  const bounded = (key: string, value: unknown): unknown =>
    typeof value === 'string' && key !== 'id' ? shownLine(value, refusalTextMax) : value
  return JSON.stringify(JSON.parse(json, bounded))
}

async function streamBody(body: ReadableStream<Uint8Array>, sending: Sending): Promise<void> {
  const { res, caller, openCall, unsent, signal } = sending
  const farewell = (): object => problemBody(revoked(), '/mcp')
  const stream = new EventStream(res, { ...readerOf(caller), revoked: openCall.signal, farewell }, unsent)
  const reader = body.getReader()
  const cancel = (): void => void reader.cancel().catch(() => {})
  signal.addEventListener('abort', cancel, { once: true })
  // The stream is the last answer of its connection, which then closes.
  res.setHeader('Connection', 'close')
  res.flushHeaders()
  const decoder = new TextDecoder()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      stream.write(decoder.decode(value, { stream: true }))
      await stream.taken(signal)
    }
  } finally {
    signal.removeEventListener('abort', cancel)
    if (!res.writableEnded) res.end()
  }
}
