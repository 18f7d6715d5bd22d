import { request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { isJsonObject, type JsonObject } from '../../../../lib/json.ts'
import type { ServerAddress } from './call.ts'

/** One event of OpenCode: `{"type":"session.idle","properties":{…}}`; OpenCode 2 says `data` for `properties`. */
export interface HarnessEvent {
  readonly type: string
  readonly properties: JsonObject
}

/** The events of one server, from now on. Disposing it ends the connection. */
export interface EventFeed extends Disposable {
  /** Resolves when the server has begun to send, or after 3 s without: then nothing is proven by silence. */
  readonly opened: Promise<void>
}

const openMaxMs = 3_000
const reopenMs = 500
/** Longer than any event that is read here; the output of a tool may be longer, and is passed over. */
const eventCharsMax = 1_000_000

/** Reads the events of a server, and connects again where the connection is lost. What happens between the two is not repeated. */
export function openFeed(server: ServerAddress, path: string, take: (event: HarnessEvent) => void): EventFeed {
  const ended = new AbortController()
  let noteOpened = () => {}
  const opened = new Promise<void>((resolve) => {
    noteOpened = resolve
  })
  const timer = setTimeout(noteOpened, openMaxMs)
  void follow()
  return {
    opened,
    [Symbol.dispose]() {
      clearTimeout(timer)
      ended.abort()
      noteOpened()
    },
  }

  async function follow(): Promise<void> {
    while (!ended.signal.aborted) {
      await readOnce(server, path, ended.signal, noteOpened, take).catch(() => {})
      await delay(reopenMs, undefined, { signal: ended.signal, ref: false }).catch(() => {})
    }
  }
}

function readOnce(
  { url, authorization }: ServerAddress,
  path: string,
  signal: AbortSignal,
  opened: () => void,
  take: (event: HarnessEvent) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { accept: 'text/event-stream', ...(authorization === undefined ? {} : { authorization }) }
    const sent = request(`${url}${path}`, { headers, agent: false, signal }, (answer) => {
      if (answer.statusCode !== 200) {
        answer.destroy()
        return reject(new Error(`HTTP ${answer.statusCode}`))
      }
      const split = eventSplitter((event) => {
        opened()
        take(event)
      })
      answer.setEncoding('utf8').on('data', split).on('close', resolve).on('error', reject)
    })
    sent.on('error', reject).end()
  })
}

/** Makes events of the text of a stream of server-sent events. Pure but for what it keeps of an event that has not ended. */
function eventSplitter(take: (event: HarnessEvent) => void): (text: string) => void {
  let rest = ''
  return (text) => {
    const blocks = (rest + text.replaceAll('\r', '')).split('\n\n')
    rest = blocks.pop()!
    if (rest.length > eventCharsMax) rest = ''
    for (const block of blocks) {
      const event = eventOf(block)
      if (event) take(event)
    }
  }
}

function eventOf(block: string): HarnessEvent | undefined {
  const lines = block.split('\n').filter((line) => line.startsWith('data:'))
  if (lines.length === 0) return undefined
  try {
    const value: unknown = JSON.parse(lines.map((line) => line.slice(5)).join('\n'))
    if (!isJsonObject(value) || typeof value.type !== 'string') return undefined
    const properties = [value.properties, value.data].find(isJsonObject) ?? {}
    return { type: value.type, properties }
  } catch {
    return undefined
  }
}
