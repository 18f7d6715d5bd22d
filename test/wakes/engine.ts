import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Cluster, singleGateway } from '../../src/cluster/cluster.ts'
import type { NewEvent } from '../../src/log/event.ts'
import { logBounds, readProjectEvents } from '../../src/log/event-store.ts'
import { LogNotifier } from '../../src/log/log-notifier.ts'
import { silentLogger } from '../../src/logger/logger.ts'
import { defaultProject, ensureProject } from '../../src/registry/projects/project-store.ts'
import type { WakeSubscription } from '../../src/registry/subscriptions/subscription.ts'
import { insertSubscription } from '../../src/registry/subscriptions/subscription-store.ts'
import { SecretBox } from '../../src/security/secret.ts'
import type { SubscriptionContext } from '../../src/subscriptions/context.ts'
import type { DeliveryOrder, DeliveryResult } from '../../src/wakes/channel.ts'
import { createEventWriter } from '../../src/wakes/commit/event-writer.ts'
import { createEngine, type Engine as StartedEngine } from '../../src/wakes/engine.ts'
import { Recorder } from '../../src/wakes/run/recorder.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { openStore } from '../support/store.ts'
import { messageSent, subscriptionOf } from './builders.ts'

type Deliver = (order: DeliveryOrder) => Promise<DeliveryResult>

/** The delivery engine over a real store, with a receiver that a test answers for. */
export async function openEngine(deliver: Deliver) {
  const dataDir = mkdtempSync(join(tmpdir(), 'rouse-test-'))
  const clock = new FakeClock()
  const db = await openStore(dataDir, clock)
  await ensureProject(db, defaultProject)
  const started: StartedEngine[] = []
  const notifier = new LogNotifier()
  const writer = createEventWriter(notifier)
  const { append } = writer
  const noAttempt = () => Promise.reject(new Error('Nothing is tested here.'))
  const channelsTo = (receiver: Deliver) => {
    const channel = { deliver: receiver, attempt: noAttempt }
    return {
      'a2a-webhook': channel,
      'bridge-daemon': channel,
      'mcp-notifications': channel,
      'mcp-webhook': channel,
      push: channel,
    }
  }
  const channels = channelsTo(deliver)
  const context = {
    db,
    clock,
    log: silentLogger,
    append,
    channels,
    notifier,
    recorder: new Recorder(db, writer),
    identities: new Map(),
    areLeasesSafe: () => true,
    hasPeers: () => false,
  }
  const subscriptions: SubscriptionContext = {
    db,
    clock,
    log: silentLogger,
    append,
    channels,
    secrets: new SecretBox([Buffer.alloc(32).toString('base64')]),
    newSigningKey: () => 'whsec_',
    checkUrl: () => {},
    allowsHttp: false,
    challenge: async () => 'challenge_failed',
    hasWaiting: async () => false,
    changed: (id) => {
      for (const one of started) one.changed(id)
    },
  }
  return {
    db,
    clock,
    context,
    subscriptions,
    dataDir,
    add(fields: readonly Partial<WakeSubscription>[]): Promise<void> {
      return db.transaction(async (tx) => {
        for (const one of fields) await insertSubscription(tx, subscriptionOf({ projectId: defaultProject, ...one }))
      })
    },
    /** Starts a gateway's engine on this store. It ends with the test's `await using`. */
    start({
      receiver = deliver,
      cluster = singleGateway(),
    }: {
      receiver?: Deliver
      cluster?: Cluster
    } = {}): StartedEngine {
      const engine = createEngine({
        db,
        clock,
        log: silentLogger,
        notifier: new LogNotifier(),
        cluster,
        channels: channelsTo(receiver),
      })
      started.push(engine)
      engine.start()
      return engine
    },
    /** Appends a message like a gateway that does not send, notifies the started engines, and returns its logId. */
    async append(priority = 'high', audience: readonly string[] = ['agent_donna']): Promise<number> {
      const data = { ...messageSent(0).data, priority }
      const event: NewEvent = { type: 'message.sent', actor: '@lola', audience, data }
      const { head } = await logBounds(db, defaultProject)
      await db.transaction((tx) => append(tx, defaultProject, [event]))
      for (const one of started) one.notifyDue()
      // The sending engine may have written its record meanwhile.
      const since = await readProjectEvents(db, defaultProject, head, 100)
      return since.findLast(({ type }) => type === event.type)!.logId
    },
    async [Symbol.asyncDispose]() {
      await db.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

export type Engine = Awaited<ReturnType<typeof openEngine>>
export const arrived: DeliveryResult = { outcome: 'delivered', reason: null, attempts: [] }
