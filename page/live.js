import { headersOf } from './api.js'
import { currentKey, forget } from './key.js'

const retryMs = { first: 1_000, last: 15_000 }
/** Five pings of the gateway without a byte: the connection, or the tab that holds it, is gone. */
const silenceMs = 75_000

/**
 * Follows the log until the signal aborts. Calls `onState` with true while it is connected, and `onEvent` with each event. A browser opens six
 * connections to a gateway: of the tabs with one `name` one holds a stream and passes on what it hears. When it closes, the next one goes on.
 */
export async function follow({ name, signal, onEvent, onState }) {
  const channel = new BroadcastChannel(name)
  const state = { isLive: false, last: undefined }
  let isHolder = false
  let steal = false
  let turn = new AbortController()
  let silence
  const take = ({ isLive = state.isLive, isReset = false, id, data }) => {
    if (isReset) state.last = undefined
    if (isLive !== state.isLive) {
      state.isLive = isLive
      onState(isLive)
    }
    if (id === undefined || Number(id) <= Number(state.last)) return
    state.last = id
    onEvent(JSON.parse(data))
  }
  const watch = () => {
    clearTimeout(silence)
    silence = setTimeout(() => {
      steal = !isHolder
      turn.abort()
    }, silenceMs)
  }
  const tell = (heard) => {
    watch()
    channel.postMessage(heard)
    take(heard)
  }
  channel.addEventListener('message', ({ data }) => {
    if (signal.aborted) return
    if (data.ask) return isHolder ? channel.postMessage({ isLive: state.isLive }) : undefined
    watch()
    take(data)
  })
  const letGo = () => document.hidden && turn.abort()
  if (!navigator.locks) document.addEventListener('visibilitychange', letGo)
  channel.postMessage({ ask: true })
  while (!signal.aborted) {
    turn = new AbortController()
    const over = AbortSignal.any([signal, turn.signal])
    const hold = async () => {
      isHolder = true
      // Between two holders something may have happened.
      tell({ isLive: false })
      await readLog({ over, tell, state })
      isHolder = false
    }
    watch()
    // A tab that takes the turn of this one ends its wait with an error.
    await inTurn(name, { over, steal }, hold).catch(() => {})
    turn.abort()
    isHolder = false
    steal = false
  }
  clearTimeout(silence)
  document.removeEventListener('visibilitychange', letGo)
  channel.close()
}

/** Holds a name that one tab has at a time. A page that came without TLS from another machine has no locks: there a tab holds it while it is seen. */
async function inTurn(name, { over, steal }, hold) {
  if (navigator.locks) return navigator.locks.request(name, steal ? { steal } : { signal: over }, hold)
  if (!document.hidden) return hold()
  await new Promise((resolve) => {
    for (const [target, type] of [
      [document, 'visibilitychange'],
      [over, 'abort'],
    ])
      target.addEventListener(type, resolve, { once: true })
  })
}

/** Reads the log, and connects again, until the turn is over. */
async function readLog({ over, tell, state }) {
  let waitMs = retryMs.first
  while (!over.aborted) {
    const key = currentKey()
    try {
      const answer = await fetch('/v1/events', {
        headers: headersOf({
          accept: 'text/event-stream',
          ...(state.last === undefined ? {} : { 'last-event-id': state.last }),
        }),
        cache: 'no-store',
        credentials: 'omit',
        signal: over,
      })
      if (answer.status === 401) return forget(key)
      // The log no longer has what came after the last event: go on from its end.
      if (answer.status === 400 || answer.status === 409 || answer.status === 410) tell({ isReset: true })
      if (answer.ok) {
        waitMs = retryMs.first
        tell({ isLive: true })
        for await (const { id, data } of eventsOf(answer.body, () => tell({ isLive: true }))) tell({ id, data })
      }
    } catch (error) {
      if (!over.aborted && !(error instanceof TypeError)) console.error(error)
    }
    if (over.aborted) break
    tell({ isLive: false })
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    waitMs = Math.min(waitMs * 2, retryMs.last)
  }
}

/** Reads server-sent events from the bytes of an answer. Calls `heard` with each piece, comments too. */
async function* eventsOf(body, heard) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    heard()
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
