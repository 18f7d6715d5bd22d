import { type OpenCalls, revoked } from '../../../identity/open-calls.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import type { StreamConnections } from '../../../wake-stream/connections.ts'
import type { WakeStreamContext } from '../../../wake-stream/context.ts'
import type { StreamReader } from '../../../wake-stream/wake-stream.ts'
import { problemBody } from '../../problem.ts'
import { EventStream, streamHeaders, untilClosed } from '../../sse.ts'
import type { Unsent } from '../../unsent.ts'
import type { HttpExchange } from '../route.ts'

export interface WakeStreamFrontContext {
  readonly wakeStreams: WakeStreamContext & { readonly connections: StreamConnections }
  readonly stopping: AbortSignal
  readonly openCalls: OpenCalls
  readonly unsent: Unsent
}

const path = '/v1/wake-stream'

/**
 * Writes the wakes of subscriptions as they come, until the reader leaves, the gateway stops, the key is revoked, or other streams
 * have taken all of the subscriptions.
 */
export async function streamWakes(
  { wakeStreams, stopping, openCalls, unsent }: WakeStreamFrontContext,
  caller: Caller,
  { req, res }: HttpExchange,
  {
    subscription,
    capabilities = [],
  }: { readonly subscription: readonly string[]; readonly capabilities?: readonly string[] },
): Promise<void> {
  using held = openCalls.hold(caller, 'streams')
  const left = new AbortController()
  const signal = untilClosed(req, res, stopping, held.signal, left.signal)
  if (held.signal.aborted) throw revoked()
  const farewell = (): object => problemBody(revoked(), path)
  const stream = new EventStream(res, { keyId: caller.keyId, revoked: held.signal, farewell }, unsent)
  const leave = (): void => left.abort()
  const reader = readerOf(stream, leave, () => unsent.isFull(caller.keyId))
  await using connection = await wakeStreams.connections.connect(
    caller,
    subscription,
    capabilities.includes('spawn'),
    reader,
  )
  res.writeHead(200, streamHeaders)
  stream.write('retry: 1000\n: connected\n\n')
  connection.begin()
  await aborted(signal)
  // Bytes that nobody reads are dropped: the wakes in them have no receipt.
  if (unsent.isFull(caller.keyId)) res.destroy()
  else if (!res.writableEnded) res.end()
}

/** Wakes are events named `wake`, with the headers that sign them as further fields. Parsers of event streams skip those. */
function readerOf(stream: EventStream, end: () => void, isFull: () => boolean): StreamReader {
  return {
    write(eventId, { body, headers }) {
      const fields = Object.entries(headers).filter(([name]) => name !== 'Content-Type')
      const signed = fields.map(([name, value]) => `${name.toLowerCase()}: ${value}\n`).join('')
      stream.write(`id: ${eventId}\nevent: wake\n${signed}data: ${body}\n\n`)
      // A reader that does not read: what is open comes again on its next stream.
      if (isFull()) end()
    },
    release(subscriptionId, reason) {
      stream.write(`event: released\ndata: ${JSON.stringify({ subscriptionId, reason })}\n\n`)
    },
    end,
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
