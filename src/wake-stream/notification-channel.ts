import type { Core } from '../log/core.ts'
import type { WakeSubscription } from '../registry/subscriptions/subscription.ts'
import type { AttemptLog } from '../wakes/attempt-log.ts'
import type { Attempt, Channel, DeliveryOrder, DeliveryResult, SignedWake, TestOrder } from '../wakes/channel.ts'
import { wakeBody } from '../wakes/content/emission.ts'
import type { WakeStreams } from './streams.ts'
import { attemptSince, tryWake } from './try-wake.ts'

/** How long a test waits until the connection has taken the bytes. */
const writeMaxMs = 10_000

/**
 * `mcp-notifications`: the wake is written to the stream of an MCP session, and that is all that is ever known of it: no harness reports
 * that it has read a notification. So its outcome is `written`, and mail in it waits on. Source: S1-22, D14.
 */
export function createNotificationChannel(
  { clock, attempts: lines }: Pick<Core, 'clock'> & { readonly attempts: AttemptLog },
  streams: WakeStreams,
): Channel<WakeSubscription> {
  return { deliver, attempt }

  async function deliver(order: DeliveryOrder<WakeSubscription>): Promise<DeliveryResult> {
    const { subscription, emission, attempts: made, signal } = order
    const { id } = subscription
    while (!signal.aborted) {
      const stream = streams.of(id)
      if (!stream) {
        await order.waitFor(streams.connected(id, signal))
        if (streams.of(id)) continue
        break
      }
      const startedAt = clock.now()
      const receipt = await order.waitFor(stream.send(emission.eventId, unsigned(order)))
      if (receipt === undefined) {
        stream.leave(emission.eventId)
        break
      }
      // Its client is gone, and may not have it: the next stream gets it under the same id.
      if (receipt === 'closed') continue
      const attempts = [...made, attemptSince(clock, startedAt, null)]
      lines.note(order, attempts.at(-1)!, attempts.length)
      return { outcome: 'written', reason: null, attempts }
    }
    return { outcome: 'stopped', reason: null, attempts: made }
  }

  async function attempt(order: TestOrder<WakeSubscription>): Promise<Attempt> {
    const { startedAt, end } = await tryWake(order, {
      clock,
      streams,
      sign: unsigned(order),
      notConnected: {
        detail:
          'harnessTarget: no MCP session that takes wakes is connected to this gateway for this subscription. Open the stream of a session whose client declares neo-wake-substrate.',
      },
      waitMs: () => writeMaxMs,
    })
    return attemptSince(clock, startedAt, end === 'timeout' || end === 'closed' ? end : null)
  }
}

/** The wake as it is: the session of its reader is authenticated. */
function unsigned({
  emission,
  agentIdentity,
  subscription,
}: Pick<TestOrder<WakeSubscription>, 'emission' | 'agentIdentity' | 'subscription'>): () => SignedWake {
  return () => ({ body: JSON.stringify(wakeBody(emission, agentIdentity, subscription.id)), headers: {} })
}
