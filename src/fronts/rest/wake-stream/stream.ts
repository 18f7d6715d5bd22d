import type { Response } from 'express'
import type { UnreadAnswers } from '../../../admission/unread-answers.ts'
import { revoked } from '../../../identity/open-calls.ts'
import { untilAborted } from '../../../lib/until-aborted.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import type { StreamCapability } from '../../../registry/subscriptions/stream-capabilities.ts'
import { changesOf, furtherRequests } from '../../../wake-stream/open-cost.ts'
import { recordBegun } from '../../access/rest-access.ts'
import type { FrontContext } from '../../front-context.ts'
import { EventStream, streamHeaders, untilClosed } from '../../http/sse.ts'
import { upgradeOf } from '../../http/upgrade.ts'
import { requireUpgradable } from '../../http/web-socket.ts'
import { problemBody } from '../../problem-body.ts'
import type { HttpExchange } from '../route.ts'
import { receiptFrames } from './receipt-frames.ts'
import { socketTransport } from './socket-transport.ts'
import type { TransportReader, WakeTransport } from './transport.ts'

const path = '/v1/wake-stream'

/**
 * Writes the wakes of subscriptions as they come, until the reader leaves, the gateway stops, the key is revoked, or other streams
 * have taken all of the subscriptions. The opening counts as more requests where it has many of them. Errors: `rate-limited`, and those
 * of `connect`.
 */
export async function streamWakes(
  context: FrontContext,
  caller: Caller,
  { req, res }: HttpExchange,
  {
    subscription,
    capabilities = [],
  }: { readonly subscription: readonly string[]; readonly capabilities?: readonly StreamCapability[] | undefined },
): Promise<void> {
  const { wakeStreams, stopping, openCalls, publicUrl, admission } = context
  const isSocket = upgradeOf(req) !== undefined
  if (isSocket) requireUpgradable(req, publicUrl)
  admission.spend(caller, 'requestsPerMinute', '', furtherRequests(subscription.length))
  using openCall = openCalls.open(caller, 'streams')
  const left = new AbortController()
  const signal = untilClosed(req, res, stopping, openCall.signal, left.signal)
  if (openCall.signal.aborted) throw revoked()
  const reader = {
    caller,
    revoked: openCall.signal,
    farewell: () => problemBody(revoked(), path),
    leave: () => left.abort(),
  }
  const transport: WakeTransport = isSocket
    ? socketTransport({ req, res }, reader, {
        subscriptions: subscription.length,
        unread: admission.unread,
        answer: receiptFrames(context, caller),
      })
    : eventTransport(res, reader, admission.unread)
  await using connection = await wakeStreams.connections.connect(caller, subscription, capabilities, transport)
  // The opening itself counts as one of them when it is over.
  admission.charge(caller, 'changesPerDay', '', changesOf(subscription.length) - 1)
  await recordBegun(res)
  if (!signal.aborted) await transport.open()
  connection.begin()
  await untilAborted(signal)
  transport.close()
}

/** Wakes are events named `wake`, with the headers that sign them as further fields. Parsers of event streams skip those. */
function eventTransport(res: Response, reader: TransportReader, unread: UnreadAnswers): WakeTransport {
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
