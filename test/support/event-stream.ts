interface StreamedEvent {
  readonly id: string
  readonly event: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire carries
  readonly data: any
}

/** A real reader of Server-Sent Events. It takes an event only on request, so that a slow reader is one that does not ask. */
interface EventStream extends AsyncDisposable {
  readonly status: number
  readonly contentType: string
  /** The next `count` events; fewer when the stream ended before. */
  take(count: number): Promise<StreamedEvent[]>
}

export async function openEventStream(url: string, headers: Record<string, string>): Promise<EventStream> {
  const closing = new AbortController()
  const response = await fetch(url, {
    headers: { accept: 'text/event-stream', ...headers },
    signal: closing.signal,
  })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let buffered = ''
  return {
    status: response.status,
    contentType: response.headers.get('content-type') ?? '',
    async take(count) {
      const events: StreamedEvent[] = []
      while (events.length < count) {
        const end = buffered.indexOf('\n\n')
        if (end >= 0) {
          const event = parseEvent(buffered.slice(0, end))
          buffered = buffered.slice(end + 2)
          if (event) events.push(event)
          continue
        }
        const { done, value } = await reader.read()
        if (done) return events
        buffered += value
      }
      return events
    },
    async [Symbol.asyncDispose]() {
      closing.abort()
      await reader.cancel().catch(() => {})
    },
  }
}

function parseEvent(block: string): StreamedEvent | undefined {
  const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]))
  return fields.data ? { id: fields.id!, event: fields.event!, data: JSON.parse(fields.data) } : undefined
}
