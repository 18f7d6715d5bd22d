import { connect, type Socket } from 'node:net'
import { Agent, request } from 'undici'

/** Where an attacker goes, and as whom. */
export interface Target {
  readonly url: string
  readonly grpcTarget: string
  readonly key: string
  readonly handle: string
}

/** Gets ready, then attacks until its process is killed. */
export type Attack = (target: Target, ready: () => void) => Promise<unknown>

/** As on a network, an attacker has an address of its own. */
const localAddress = '127.0.0.2'
const dispatcher = new Agent({ connections: 256, pipelining: 1, headersTimeout: 0, bodyTimeout: 0, localAddress })

/** One request. Returns the text of its answer; nothing when there is none. */
export async function call(
  { url, key }: Target,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: object | string,
  more: Record<string, string> = {},
): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'a2a-version': '1.0', ...more }
  const text = typeof body === 'object' ? JSON.stringify(body) : body
  try {
    const answer = await request(url + path, { dispatcher, method, headers, ...(text !== undefined && { body: text }) })
    return await answer.body.text()
  } catch {
    return ''
  }
}

/** Sends an A2A message to the attacker itself. Returns the task's id, or nothing. */
export async function send(target: Target, text: string, configuration: object = { returnImmediately: true }) {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] }
  const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message, configuration } }
  const answer = await call(target, 'POST', `/agents/${target.handle}`, body)
  return /"task":\{"id":"([^"]+)"/.exec(answer)?.[1] ?? ''
}

export function sendMail(target: Target, more: object = {}): Promise<string> {
  return call(target, 'POST', '/v1/messages', { to: `@${target.handle}`, subject: 'wake up', ...more })
}

/** Adds an artifact to a task. */
export function addArtifact(target: Target, task: string, text: string): Promise<string> {
  return call(target, 'POST', `/v1/tasks/${task}/artifacts`, { artifact: { parts: [{ text }] } })
}

/** Subscribes to `count` receivers, or to as many as are allowed. Returns the ids. */
export async function subscribeMany(
  target: Target,
  count: number,
  urlOf: (index: number) => string,
  { more = {}, filters = {} }: { more?: object; filters?: object } = {},
): Promise<string[]> {
  const ids: string[] = []
  for (let index = 0; index < count; index++) {
    const harnessTargetMetadata = { url: urlOf(index), coalesceWindow: 0, ...more }
    const input = { trigger: 'SENT_TO_ME', harnessTarget: 'a2a-webhook', harnessTargetMetadata, filters }
    const [, id] = /"subscriptionId":"([^"]+)"/.exec(await call(target, 'POST', '/v1/wake-subscriptions', input)) ?? []
    // A limit is reached.
    if (id === undefined) break
    ids.push(id)
  }
  return ids
}

/** A connection that has said `head`. */
export function open(address: string, head: string | Buffer = ''): Socket {
  const { hostname, port } = new URL(address)
  const socket = connect({ host: hostname, port: Number(port), localAddress }).on('error', () => {})
  socket.write(head)
  return socket
}

/** The head of a request. */
export function headOf({ key }: Target, line: string, ...fields: string[]): string {
  const all = [`${line} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${key}`, ...fields]
  return `${all.join('\r\n')}\r\n\r\n`
}

/** Acts in so many lanes without end. A lane that is refused goes on at once: an attacker does not wait. */
export function forever(lanes: number, act: (index: number) => Promise<unknown>): Promise<unknown> {
  let index = 0
  const lane = async (): Promise<never> => {
    for (;;) {
      await act(index++)
      await new Promise(setImmediate)
    }
  }
  return Promise.all(Array.from({ length: lanes }, lane))
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
