interface ServerSentEvent {
  readonly id: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire carries
  readonly data: any
}

/** A stream read by hand: what the SDK's client hides, the SSE ids above all. */
export interface EventSource extends AsyncDisposable {
  readonly response: Response
  next(): Promise<ServerSentEvent | undefined>
  /** Everything up to the end of the stream. */
  rest(): Promise<ServerSentEvent[]>
}

/** Opens a stream; disposing hangs up. */
export async function openEvents(url: string, init: RequestInit): Promise<EventSource> {
  const hangUp = new AbortController()
  const response = await fetch(url, { ...init, signal: hangUp.signal })
  const events = read(response)
  const next = async () => (await events.next()).value ?? undefined
  return {
    response,
    next,
    async rest() {
      const all: ServerSentEvent[] = []
      for (let event = await next(); event; event = await next()) all.push(event)
      return all
    },
    async [Symbol.asyncDispose]() {
      hangUp.abort()
    },
  }
}

async function* read({ body }: Response): AsyncGenerator<ServerSentEvent, void, undefined> {
  let buffered = ''
  const decoder = new TextDecoder()
  for await (const chunk of body ?? []) {
    buffered += decoder.decode(chunk, { stream: true })
    const blocks = buffered.split('\n\n')
    buffered = blocks.pop() ?? ''
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1]
      if (data) yield { id: /^id: (.*)$/m.exec(block)?.[1], data: JSON.parse(data) }
    }
  }
}
