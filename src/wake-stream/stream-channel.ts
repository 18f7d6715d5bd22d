import type { Core } from '../log/core.ts'
import type { WakeSubscription } from '../registry/subscriptions/subscription.ts'
import type { AttemptLog } from '../wakes/attempt-log.ts'
import type {
  Attempt,
  Channel,
  DeliveryOrder,
  DeliveryResult,
  SignWake,
  TestAttempt,
  TestOrder,
} from '../wakes/channel.ts'
import { resultOf } from '../wakes/rules/recorded-result.ts'
import { findDelivery } from '../wakes/store/delivery-store.ts'
import { hearTest, testError, testWaitMs } from './hear-test.ts'
import type { WakeStreams } from './streams.ts'
import { attemptSince, tryWake } from './try-wake.ts'

/**
 * `bridge-daemon`: the wake is written to a stream that its reader has opened, and is delivered when the reader reports so. A wake
 * without a receipt is written again to the next stream, under the same `eventId`.
 */
export function createStreamChannel(
  { db, clock, attempts: lines }: Pick<Core, 'db' | 'clock'> & { readonly attempts: AttemptLog },
  streams: WakeStreams,
  sign: SignWake,
): Channel<WakeSubscription> {
  return { deliver, attempt }

  async function deliver(order: DeliveryOrder<WakeSubscription>): Promise<DeliveryResult> {
    const { subscription, emission, signal } = order
    const { id } = subscription
    let { attempts } = order
    const signed = sign(order)
    while (!signal.aborted) {
      const stream = streams.of(id)
      if (!stream) {
        await order.waitFor(streams.connected(id, signal))
        if (streams.of(id)) continue
        break
      }
      // Kept before each write: from then on a receipt counts, whatever the clock shows.
      if (!(await order.keep(attempts))) break
      const receipt = await order.waitFor(stream.send(emission.eventId, signed))
      if (receipt === undefined) {
        stream.leave(emission.eventId)
        break
      }
      if (receipt === 'closed') continue
      const delivery = await findDelivery(db, id, emission.eventId)
      attempts = delivery?.attempts ?? attempts
      if (!delivery) break
      const last = attempts.at(-1)
      if (last) lines.note(order, last, attempts.length)
      if (delivery.outcome !== 'pending') return resultOf(delivery)
      if (!(await order.retryAt(attempts, delivery.nextAttemptAt ?? clock.now()))) break
    }
    return stopped(attempts)
  }

  async function attempt(order: TestOrder<WakeSubscription>): Promise<TestAttempt> {
    const { startedAt, end, heard, waitedMaxMs } = await tryWake(order, {
      clock,
      streams,
      sign: sign(order),
      notConnected: {
        detail: 'harnessTarget: no stream of this subscription is connected to this gateway.',
        remedy: 'connect-reader',
      },
      waitMs: testWaitMs,
      listen: (stream, signal) => hearTest(clock, stream, signal),
    })
    const error = testError(end === 'written' ? 'heard' : end, heard?.strongest)
    return {
      reported: heard?.strongest ?? null,
      waitsSeconds: waitedMaxMs / 1_000,
      ...attemptSince(clock, startedAt, error),
    }
  }
}

function stopped(attempts: readonly Attempt[]): DeliveryResult {
  return { outcome: 'stopped', reason: null, attempts }
}
