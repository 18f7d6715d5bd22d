/** One event of a `text/event-stream`. */
export interface StreamEvent {
  id?: string
  event?: string
  data: string
  retryMs?: number
  /** A field of Rouse's own, beside those of the standard. */
  traceparent?: string
}

/** Characters of one event: a wake has two kilobytes, an event of the log with its message a megabyte. */
const eventMax = 8_000_000

/**
 * Reads server-sent events (HTML Living Standard §9.2.6) from the chunks of a response body. Errors: one event is larger than 8 million
 * characters.
 */
export async function* readEventStream(body: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent, void, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  let event: StreamEvent = { data: '' }
  let endsInCr = false
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true })
    rest += text
    if (rest.length + event.data.length > eventMax) throw new Error('An event of the stream is too large.')
    // Of a long line each chunk is searched once.
    if (!endsInCr && !/[\r\n]/.test(text)) continue
    // A CR at the end may be half of a CRLF, so it waits for what follows.
    const lines = rest.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    endsInCr = rest.endsWith('\r')
    for (const line of lines) {
      if (line !== '') {
        addLine(event, line)
        continue
      }
      if (event.data !== '' || event.retryMs !== undefined) yield { ...event, data: event.data.replace(/\n$/, '') }
      event = { data: '' }
    }
  }
}

function addLine(event: StreamEvent, line: string): void {
  const colon = line.indexOf(':')
  const name = colon < 0 ? line : line.slice(0, colon)
  const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
  if (name === 'data') event.data += `${value}\n`
  else if (name === 'id') event.id = value
  else if (name === 'event') event.event = value
  else if (name === 'traceparent') event.traceparent = value
  else if (name === 'retry' && /^\d+$/.test(value)) event.retryMs = Number(value)
}
