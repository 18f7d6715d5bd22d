import type { Io } from '../../client/io.ts'
import { isJsonObject } from '../../lib/json.ts'
import { connectToBridge } from './call-bridge.ts'
import { lineOf } from './protocol.ts'

/** Characters: that of a thousand agents has a million. */
const statusMax = 4_000_000

/** Asks the bridge of this user for its status. undefined: no bridge runs, or it does not answer in time. Never rejects. */
export async function askStatus(env: Io['env'], timeoutMs = 2_000): Promise<object | undefined> {
  const socket = connectToBridge(env)
  if (socket === undefined) return undefined
  return new Promise((resolve) => {
    let text = ''
    const settle = (status?: object): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(status)
    }
    const timer = setTimeout(() => settle(), timeoutMs)
    socket.on('error', () => settle())
    socket.on('close', () => settle())
    socket.on('connect', () => socket.write(lineOf({ type: 'status' })))
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      if (text.length > statusMax) return settle()
      if (chunk.includes('\n')) settle(statusIn(text))
    })
  })
}

function statusIn(text: string): object | undefined {
  try {
    const { type, status } = JSON.parse(text.slice(0, text.indexOf('\n')))
    return type === 'status' && isJsonObject(status) ? status : undefined
  } catch {
    return undefined
  }
}
