import type { Cluster } from '../cluster/cluster.ts'
import { renderPush } from '../fronts/a2a/push-body.ts'
import type { Cleanup } from '../lib/cleanup.ts'
import type { Core } from '../log/core.ts'
import { LogNotifier } from '../log/log-notifier.ts'
import { createFindDelivered } from '../mailbox/delivery/already-delivered.ts'
import { createNoteStep } from '../mailbox/delivery/note-step.ts'
import { recordWakes } from '../mailbox/delivery/waiting-store.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { OutboundFetch } from '../security/outbound-fetch.ts'
import type { SecretBox } from '../security/secret.ts'
import type { Transaction } from '../storage/database.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { partiesOf } from '../turns/turn.ts'
import { type ArrivedWake, insertArrived } from '../turns/turn-store.ts'
import { StreamConnections } from '../wake-stream/connections.ts'
import { createNotificationChannel } from '../wake-stream/notification-channel.ts'
import { createStreamChannel } from '../wake-stream/stream-channel.ts'
import { WakeStreams } from '../wake-stream/streams.ts'
import { AttemptLog } from '../wakes/attempt-log.ts'
import type { Channels } from '../wakes/channel.ts'
import type { Emission } from '../wakes/content/emission.ts'
import { createEngine } from '../wakes/engine.ts'
import { createAttemptGate } from '../webhooks/attempt-gate.ts'
import { createChallenge } from '../webhooks/mcp/challenge.ts'
import { createMcpChannel } from '../webhooks/mcp/channel.ts'
import { controlMessageSweep } from '../webhooks/mcp/control-messages.ts'
import { createPushChannel, type SignToken } from '../webhooks/push-channel.ts'
import { createWakeSigner } from '../webhooks/wake-signer.ts'
import { createWebhookChannel } from '../webhooks/webhook-channel.ts'
import type { McpEventCodes } from '../words/mcp-events.ts'
import { createFindWaiting } from './waiting.ts'
import type { World } from './world.ts'

/** Notifies the parts of this gateway of the subscriptions and MCP sessions that have changed, here or on another gateway. */
class Changes implements Checks {
  readonly #parts: Checks[] = []

  listen(part: Checks): void {
    this.#parts.push(part)
  }

  check(ids: readonly string[]): void {
    for (const part of this.#parts) part.check(ids)
  }

  checkAll(): void {
    for (const part of this.#parts) part.checkAll()
  }
}

interface DeliveryParts extends Pick<World, 'clock' | 'log' | 'random'>, Pick<Core, 'db'> {
  readonly cluster: Cluster
  readonly outbound: OutboundFetch
  readonly secrets: SecretBox
  /** Signs the token of a push. */
  readonly signToken: SignToken
  /** How long a receiver may take to answer, in ms. */
  readonly timeoutMs: number
  readonly metrics: Metrics
  readonly tracing: Tracing | undefined
  readonly mcpEventCodes: McpEventCodes
}

/** Builds what delivers: the log, the channels, the engine over both, and the streams that receivers open. Nothing runs yet. */
export function openDelivery(parts: DeliveryParts, undo: Cleanup) {
  const { db, clock, log, random, cluster, outbound, secrets, signToken, timeoutMs, metrics, tracing, mcpEventCodes } =
    parts
  const notifier = new LogNotifier(cluster.notifyGrown, metrics)
  cluster.on({ grown: (ids) => notifier.invalidate(ids), missed: () => notifier.invalidateAll() })

  // channels
  const attempts = new AttemptLog(log, metrics)
  const sending = { outbound, clock, random, log, attempts, gate: createAttemptGate(), timeoutMs }
  const signWake = createWakeSigner(secrets, clock)
  const [streams, noticed] = [new WakeStreams(), new WakeStreams()]
  const channels: Channels = {
    'a2a-webhook': createWebhookChannel(sending, signWake),
    'mcp-notifications': createNotificationChannel({ clock, attempts }, noticed),
    'bridge-daemon': createStreamChannel({ db, clock, attempts }, streams, signWake),
    'mcp-webhook': createMcpChannel(sending, secrets),
    push: createPushChannel(sending, secrets, renderPush(db), signToken),
  }

  // the engine
  const findDelivered = createFindDelivered(db)
  const findWaiting = createFindWaiting(db)
  const engine = undo.use(
    createEngine({
      db,
      clock,
      log,
      notifier,
      cluster,
      channels,
      onDelivered: markDelivered,
      findDelivered,
      findWaiting,
      tracing,
    }),
  )
  const core: Core = { db, clock, log, append: engine.append }

  // the streams
  const changes = new Changes()
  cluster.on({ changed: (ids) => changes.check(ids), missed: () => changes.checkAll() })
  const changed = (id: string): void => {
    engine.changed(id)
    changes.check([id])
  }
  const connecting = { ...core, gatewayId: cluster.id, random, onStep: createNoteStep(engine.append) }
  const stream = { ...connecting, target: 'bridge-daemon', streams, changed: engine.changed } as const
  const connections = undo.use(new StreamConnections(stream))
  const notices = undo.use(
    new StreamConnections({ ...connecting, target: 'mcp-notifications', streams: noticed, changed }),
  )
  changes.listen(connections)
  return {
    core,
    notifier,
    channels,
    challenge: createChallenge(sending),
    controlMessages: controlMessageSweep({ ...sending, db }, secrets, mcpEventCodes),
    engine,
    changes,
    changed,
    wakeStreams: { ...stream, connections },
    notices,
  }
}

/** Looks again at things that may have changed. */
interface Checks {
  /** Looks at the subscriptions and MCP sessions with these ids. */
  check(ids: readonly string[]): void
  /** Looks at everything: notifications may have been lost. */
  checkAll(): void
}

interface Wake {
  readonly subscriptionId: string
  /** The recipient's id, where the wake is about mail. */
  readonly audience: string
  readonly emission: Emission
}

/**
 * Marks the mail that acknowledged wakes are about as delivered, in the transaction that records the wakes: no other route brings it. Books
 * each wake as a turn.
 */
async function markDelivered(tx: Transaction, wakes: readonly Wake[]): Promise<void> {
  await insertArrived(tx, wakes.map(turnOf))
  const delivered = wakes.flatMap(({ audience, emission }) =>
    emission.messageIds.map((messageId) => ({ agentId: audience, messageId })),
  )
  await recordWakes(tx, delivered)
}

function turnOf({ subscriptionId, emission }: Wake): ArrivedWake {
  const { eventId, eventType, fromLogId, logId: toLogId, event } = emission
  const act = eventType === 'wake/heartbeat_pulse' ? 'nudge' : 'wake'
  const { senders, threadId } = partiesOf(event ? [event] : [])
  return { subscriptionId, eventId, act, fromLogId, toLogId, senders, threadId }
}
