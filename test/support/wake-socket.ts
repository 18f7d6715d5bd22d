import { once } from 'node:events'
import { type ClientOptions, WebSocket } from 'ws'
import type { JsonObject } from '../../src/lib/json.ts'
import type { TestAgent, TestGateway } from './gateway.ts'
import { until } from './until.ts'

/** A message of the gateway: the fields of a server-sent event, each a string. */
type Frame = Readonly<Record<string, string>>

/** A real client of the WebSocket at `GET /v1/wake-stream`. */
interface WakeSocket extends Disposable {
  readonly socket: WebSocket
  readonly frames: readonly Frame[]
  /** Resolves with the frames of a name once there are so many. */
  waitFor(event: string, count: number): Promise<readonly Frame[]>
  /** Sends receipts and returns the data of the next answer. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire carries
  report(receipts: unknown): Promise<any>
  /** Resolves with the code with which it was closed. */
  readonly closed: Promise<number>
}

/** The address of the WebSocket of these subscriptions. */
export function socketUrl({ url }: Pick<TestGateway, 'url'>, ids: readonly string[], spawns = true): string {
  const query = new URLSearchParams(ids.map((id): [string, string] => ['subscription', id]))
  if (spawns) query.append('capabilities', 'spawn')
  return `${url.replace(/^http/, 'ws')}/v1/wake-stream?${query}`
}

/** Opens a WebSocket for subscriptions. Rejects with the library's error when the gateway refuses it: `Unexpected server response: 401`. */
export async function openWakeSocket(
  gateway: Pick<TestGateway, 'url'>,
  agent: Pick<TestAgent, 'key'>,
  ids: readonly string[],
  options: ClientOptions = {},
): Promise<WakeSocket> {
  const headers = { authorization: `Bearer ${agent.key}`, ...options.headers }
  const socket = new WebSocket(socketUrl(gateway, ids), { ...options, headers })
  const frames: Frame[] = []
  const named = (event: string): Frame[] => frames.filter((frame) => frame.event === event)
  socket.on('message', (data) => frames.push(JSON.parse(String(data)) as JsonObject as Frame))
  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  await once(socket, 'open')
  socket.on('error', () => {})
  const answers = (): Frame[] => [...named('receipts'), ...named('error')]
  return {
    socket,
    frames,
    closed,
    waitFor: (event, count) =>
      until(
        () => named(event),
        ({ length }) => length >= count,
      ),
    async report(receipts) {
      const before = answers()
      socket.send(typeof receipts === 'string' ? receipts : JSON.stringify(receipts))
      const after = await until(answers, ({ length }) => length > before.length)
      return JSON.parse(after.find((frame) => !before.includes(frame))!.data!)
    },
    [Symbol.dispose]: () => socket.terminate(),
  }
}
