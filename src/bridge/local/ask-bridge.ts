import { randomBytes } from 'node:crypto'
import type { Io } from '../../client/io.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { connectToBridge } from './call-bridge.ts'
import type { ClientMessage } from './messages.ts'
import type { ProofState } from './protocol.ts'
import { lineOf } from './protocol.ts'

/** Characters: that of a thousand agents has a million. */
const answerMax = 4_000_000

/** Asks the bridge of this user for its status. undefined: no bridge runs, or it does not answer in time. Never rejects. */
export async function askStatus(env: Io['env'], timeoutMs = 2_000): Promise<object | undefined> {
  const { type, status } = (await ask(env, { type: 'status' }, timeoutMs)) ?? {}
  return type === 'status' && isJsonObject(status) ? status : undefined
}

/** Asks the bridge of this user to prove a recipe, and how that stands. undefined: no bridge runs, or it is of an older version. Never rejects. */
export async function askProof(
  env: Io['env'],
  agent: string,
  run = randomBytes(8).toString('hex'),
): Promise<(ProofState & { readonly run: string }) | undefined> {
  const answer = await ask(env, { type: 'prove', agent, run }, 5_000)
  const { type, state, detail } = answer ?? {}
  if (type !== 'proof' || typeof detail !== 'string') return undefined
  return state === 'running' || state === 'proven' || state === 'failed' ? { state, detail, run } : undefined
}

/** One question, and the line that answers it. */
function ask(env: Io['env'], question: ClientMessage, timeoutMs: number): Promise<JsonObject | undefined> {
  const socket = connectToBridge(env)
  if (socket === undefined) return Promise.resolve(undefined)
  return new Promise((resolve) => {
    let text = ''
    const settle = (answer?: JsonObject): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(answer)
    }
    const timer = setTimeout(() => settle(), timeoutMs)
    socket.on('error', () => settle())
    socket.on('close', () => settle())
    socket.on('connect', () => socket.write(lineOf(question)))
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      if (text.length > answerMax) return settle()
      if (chunk.includes('\n')) settle(objectIn(text))
    })
  })
}

function objectIn(text: string): JsonObject | undefined {
  try {
    const answer: unknown = JSON.parse(text.slice(0, text.indexOf('\n')))
    return isJsonObject(answer) ? answer : undefined
  } catch {
    return undefined
  }
}
