import { quickFetch } from '../../../../client/quick-fetch.ts'
import { withTimeout } from '../../../../client/with-timeout.ts'

/** An HTTP server of OpenCode on this machine. */
export interface ServerAddress {
  /** `http://127.0.0.1:4096` */
  readonly url: string
  /** The header that its password makes; absent: it wants none. */
  readonly authorization?: string
}

export interface Answer {
  readonly status: number
  /** The JSON of the answer; undefined where it is none. */
  readonly body: unknown
}

/** A request that arrives while OpenCode boots may stay without an answer for good, so it is given up, and sent again. */
const getMaxMs = 2_500
const getTries = 2
/** A request that changes something is sent once. */
const changeMaxMs = 10_000

/** Reads from OpenCode. Errors: no answer after two tries of 2.5 s; the signal aborts. */
export async function getFrom(server: ServerAddress, path: string, signal: AbortSignal): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    signal.throwIfAborted()
    try {
      return await request(server, { method: 'GET', path, timeoutMs: getMaxMs, signal })
    } catch (error) {
      signal.throwIfAborted()
      if (tries === getTries || !(error instanceof NoAnswer)) throw error
    }
  }
}

/** Sends a change once. Errors: no answer within 10 s, after which it is open whether OpenCode has it. */
export function sendTo(server: ServerAddress, method: 'POST' | 'DELETE', path: string, body?: object): Promise<Answer> {
  return request(server, { method, path, body, timeoutMs: changeMaxMs })
}

interface Request {
  readonly method: string
  readonly path: string
  readonly body?: object | undefined
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/** Errors: `NoAnswer`. */
function request({ url, authorization }: ServerAddress, sent: Request): Promise<Answer> {
  const { method, path, body, timeoutMs, signal: outer } = sent
  const headers = {
    ...(authorization === undefined ? {} : { authorization }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
  const content = body === undefined ? {} : { body: JSON.stringify(body) }
  const limit = { signal: outer, timeoutMs, expired: () => new NoAnswer(timeoutMs) }
  return withTimeout(limit, async (signal) => {
    try {
      const answer = await quickFetch(`${url}${path}`, { method, headers, signal, ...content })
      return { status: answer.status, body: asJson(await answer.text()) }
    } catch (error) {
      signal.throwIfAborted()
      throw error
    }
  })
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** OpenCode has not answered in time. */
class NoAnswer extends Error {
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs / 1_000} s`)
  }
}
