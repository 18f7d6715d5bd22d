import { createConnection } from 'node:net'
import type { OutgoingWake } from '../../../bridge/adapter.ts'

const writeMaxMs = 5_000

/**
 * Writes a wake to the inbox of a session. Resolves when it was written; there is no answer. Errors: nothing listens, or the line could
 * not be written in time; then a part of it may have been written, and the session has ignored it.
 */
export function writeToInbox(path: string, wake: OutgoingWake, from: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path)
    const settle = (error?: Error): void => {
      clearTimeout(timer)
      socket.destroy()
      if (error) reject(error)
      else resolve()
    }
    const timer = setTimeout(() => settle(new Error(`it takes nothing within ${writeMaxMs / 1_000} s`)), writeMaxMs)
    socket.on('error', settle)
    socket.on('close', () => settle(new Error('it was closed')))
    socket.on('connect', () => socket.end(inboxLine(wake, from), () => settle()))
  })
}

/**
 * The line of a wake. It has a sender, because what comes without one is not known for a repetition. It claims no mode: it would be one
 * that this program is not in. Pure.
 */
export function inboxLine({ id, text }: OutgoingWake, from: string): string {
  const sender = `uds:${from}`
  const quoted = sender.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
  const content = `<cross-session-message from="${quoted}" from-name="rouse">\n${text}\n</cross-session-message>`
  const message = { msgV: 1, msg_id: uuidOf(id), type: 'user', priority: 'next', from: sender }
  return `${JSON.stringify({ ...message, message: { role: 'user', content } })}\n`
}

const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** A ULID is 128 bits, as a UUID is. Pure. */
function uuidOf(ulid: string): string {
  const bits = [...ulid].reduce((sum, letter) => sum * 32n + BigInt(crockford.indexOf(letter)), 0n)
  const hex = (bits & ((1n << 128n) - 1n)).toString(16).padStart(32, '0')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
