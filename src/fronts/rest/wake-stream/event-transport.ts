import type { Response } from 'express'
import type { UnreadAnswers } from '../../../admission/unread-answers.ts'
import { EventStream, streamHeaders } from '../../http/sse.ts'
import type { TransportReader, WakeTransport } from './transport.ts'

/** Wakes are events named `wake`, with the headers that sign them as further fields. Parsers of event streams skip those. */
export function eventTransport(res: Response, reader: TransportReader, unread: UnreadAnswers): WakeTransport {
  const stream = new EventStream(res, reader, unread)
  const isFull = (): boolean => unread.isFull(reader.caller)
  return {
    async open() {
      res.writeHead(200, streamHeaders)
      stream.write('retry: 1000\n: connected\n\n')
    },
    write(eventId, { body, headers }) {
      const fields = Object.entries(headers).filter(([name]) => name !== 'Content-Type')
      const signed = fields.map(([name, value]) => `${name.toLowerCase()}: ${value}\n`).join('')
      stream.write(`id: ${eventId}\nevent: wake\n${signed}data: ${body}\n\n`)
      // A reader that does not read: what is open comes again on its next stream.
      if (isFull()) reader.leave()
    },
    release(subscriptionId, reason) {
      stream.write(`event: released\ndata: ${JSON.stringify({ subscriptionId, reason })}\n\n`)
    },
    end: reader.leave,
    close() {
      if (isFull()) res.destroy()
      else if (!res.writableEnded) res.end()
    },
  }
}
