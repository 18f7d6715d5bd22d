import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { readEventStream } from '../../../../client/event-stream.ts'
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

async function readOnce(
  { url, authorization }: ServerAddress,
  path: string,
  signal: AbortSignal,
  opened: () => void,
  take: (event: HarnessEvent) => void,
): Promise<void> {
  const headers = { accept: 'text/event-stream', ...(authorization === undefined ? {} : { authorization }) }
  const sent = request(`${url}${path}`, { headers, agent: false, signal })
  // An error after the answer has begun ends the answer too.
  sent.on('error', () => {}).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  if (answer.statusCode !== 200) return void answer.destroy()
  for await (const { data } of readEventStream(answer)) {
    const event = eventOf(data)
    if (event === undefined) continue
    opened()
    take(event)
  }
}

function eventOf(data: string): HarnessEvent | undefined {
  try {
    const value: unknown = JSON.parse(data)
    if (!isJsonObject(value) || typeof value.type !== 'string') return undefined
    const properties = [value.properties, value.data].find(isJsonObject) ?? {}
    return { type: value.type, properties }
  } catch {
    return undefined
  }
}
