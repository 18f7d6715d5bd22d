import { Agent, request } from 'undici'

/** Where an attacker goes, and as whom. */
export interface Target {
  readonly url: string
  readonly grpcTarget: string
  readonly key: string
  readonly handle: string
}

/** Gets ready, then attacks until the signal aborts. */
export type Attack = (target: Target, ready: () => void, signal: AbortSignal) => Promise<void>

const dispatcher = new Agent({ connections: 256, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 })

/** One request. Returns the text of its answer; nothing when there is none. */
export async function call(
  target: Target,
  method: string,
  path: string,
  body?: string,
  headers: Record<string, string> = {},
): Promise<string> {
  try {
    const answer = await request(target.url + path, {
      dispatcher,
      method: method as 'GET',
      headers: {
        authorization: `Bearer ${target.key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    })
    return await answer.body.text()
  } catch {
    return ''
  }
}

/** Sends an A2A message to the attacker itself. Returns the task's id, or nothing. */
export async function send(
  target: Target,
  text: string,
  configuration: object = { returnImmediately: true },
  metadata: object = {},
): Promise<string> {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], metadata }
  const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message, configuration } }
  const answer = await call(target, 'POST', `/agents/${target.handle}`, JSON.stringify(body), { 'a2a-version': '1.0' })
  return /"task":\{"id":"([^"]+)"/.exec(answer)?.[1] ?? ''
}

/** Runs in so many lanes until the signal aborts. A lane that is refused at once goes on at once: an attacker does not wait. */
export async function manyTimes(
  lanes: number,
  signal: AbortSignal,
  act: (index: number) => Promise<void>,
): Promise<void> {
  let index = 0
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (!signal.aborted) {
        await act(index++)
        await new Promise(setImmediate)
      }
    }),
  )
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
