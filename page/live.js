import { headersOf } from './api.js'

const retryMs = { first: 1_000, last: 15_000 }

/** Follows the log until the signal aborts. Calls `onState` with true while it is connected, and `onEvent` with each event. */
export async function follow({ signal, onEvent, onState }) {
  let last
  let waitMs = retryMs.first
  while (!signal.aborted) {
    try {
      const answer = await fetch('/v1/events', {
        headers: headersOf({ accept: 'text/event-stream', ...(last === undefined ? {} : { 'last-event-id': last }) }),
        cache: 'no-store',
        credentials: 'omit',
        signal,
      })
      if (answer.status === 401) return onState(false)
      // The log no longer has what came after the last event: go on from its end.
      if (answer.status === 400 || answer.status === 409 || answer.status === 410) last = undefined
      if (answer.ok) {
        onState(true)
        waitMs = retryMs.first
        for await (const { id, data } of eventsOf(answer.body)) {
          if (id === undefined) continue
          last = id
          onEvent(JSON.parse(data))
        }
      }
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof TypeError)) console.error(error)
    }
    onState(false)
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    waitMs = Math.min(waitMs * 2, retryMs.last)
  }
}

/** Reads server-sent events from the bytes of an answer. */
export async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    const blocks = (rest + value).split('\n\n')
    rest = blocks.pop()
    for (const block of blocks) {
      const fields = {}
      for (const line of block.split('\n')) {
        const at = line.indexOf(': ')
        if (at > 0) fields[line.slice(0, at)] = line.slice(at + 2)
      }
      if (fields.data !== undefined) yield fields
    }
  }
}
