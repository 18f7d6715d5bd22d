import type { Request, Response } from 'express'
import { WebSocket } from 'ws'
import type { UnreadAnswers } from '../../../admission/unread-answers.ts'
import { acceptWebSocket, closeCodes, closeSocket, keepAlive } from '../../http/web-socket.ts'
import type { AnswerFrame, AnswerFrames } from './receipt-frames.ts'
import type { TransportReader, WakeTransport } from './transport.ts'

/** Messages of a client that wait for their answers. */
const waitingMax = 1_000

interface Parts {
  /** How many subscriptions it carries. */
  readonly subscriptions: number
  readonly unread: UnreadAnswers
  readonly answer: AnswerFrames
}

/**
 * Wakes as messages of a WebSocket: one JSON object for each event, with the fields of the server-sent event, each a string.
 * Receipts come back over the same connection, and are answered in their order.
 */
export function socketTransport(
  { req, res }: { readonly req: Request; readonly res: Response },
  reader: TransportReader,
  { subscriptions, unread, answer }: Parts,
): WakeTransport {
  let socket: WebSocket | undefined
  let taken = (): void => {}
  let left = subscriptions

  const send = (frame: Readonly<Record<string, string>>): void => {
    // Nothing is written for a key that was revoked.
    if (socket?.readyState !== WebSocket.OPEN || reader.revoked.aborted) return
    socket.send(JSON.stringify(frame))
    if (!req.socket.writableNeedDrain) return
    req.socket.off('drain', taken)
    taken()
    taken = unread.add(reader.caller, socket.bufferedAmount)
    req.socket.once('drain', taken)
    // A reader that does not read: what is open comes again on its next stream.
    if (unread.isFull(reader.caller)) reader.leave()
  }

  return {
    async open() {
      socket = await acceptWebSocket(req, res)
      if (!socket) return
      socket.once('close', () => taken())
      keepAlive(socket)
      answerInOrder(socket, answer, ({ event, data }) => send({ event, data: JSON.stringify(data) }))
    },
    write(eventId, { body, headers }) {
      const fields = Object.entries(headers).filter(([name]) => name !== 'Content-Type')
      const signed = Object.fromEntries(fields.map(([name, value]) => [name.toLowerCase(), value]))
      send({ id: eventId, event: 'wake', ...signed, data: body })
    },
    release(subscriptionId, reason) {
      left -= 1
      send({ event: 'released', data: JSON.stringify({ subscriptionId, reason }) })
    },
    end: reader.leave,
    close() {
      if (!socket) return
      const isUnread = socket.bufferedAmount > 0
      // Unread bytes of a key that is no longer valid, or has too many of them, are dropped.
      if (isUnread && (reader.revoked.aborted || unread.isFull(reader.caller))) return socket.terminate()
      if (!reader.revoked.aborted) return closeSocket(socket, left === 0 ? closeCodes.done : closeCodes.goingAway)
      socket.send(JSON.stringify({ event: 'error', data: JSON.stringify(reader.farewell()) }))
      closeSocket(socket, closeCodes.refused)
    },
  }
}

/** Answers the messages of a client one after the other. While one waits nothing more is read. */
function answerInOrder(socket: WebSocket, answer: AnswerFrames, send: (frame: AnswerFrame) => void): void {
  let waiting = 0
  let answered = Promise.resolve()
  const answerOne = async (text: Buffer): Promise<void> => {
    if (socket.readyState !== WebSocket.OPEN) return
    send(await answer(text))
    waiting -= 1
    // One that was closed for its frames is not read any further.
    if (waiting === 0 && socket.readyState === WebSocket.OPEN) socket.resume()
  }
  socket.on('message', (text, isBinary) => {
    if (socket.readyState !== WebSocket.OPEN) return
    if (isBinary) return closeSocket(socket, closeCodes.notText)
    // A chunk of the connection may hold several messages, although it is not read any further.
    if (waiting >= waitingMax) return closeSocket(socket, closeCodes.refused)
    waiting += 1
    socket.pause()
    answered = answered.then(() => answerOne(text as Buffer)).catch(() => socket.terminate())
  })
}
