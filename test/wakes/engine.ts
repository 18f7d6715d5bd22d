import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NewEvent } from '../../src/log/event.ts'
import { logBounds, readProjectEvents } from '../../src/log/event-store.ts'
import { LogNotifier } from '../../src/log/log-notifier.ts'
import { silentLogger } from '../../src/logger.ts'
import { defaultProject, ensureProject } from '../../src/registry/projects/project-store.ts'
import type { Subscription } from '../../src/registry/subscriptions/subscription.ts'
import { insertSubscription } from '../../src/registry/subscriptions/subscription-store.ts'
import { SecretBox } from '../../src/security/secret.ts'
import type { SubscriptionContext } from '../../src/subscriptions/subscriptions.ts'
import type { DeliveryOrder, DeliveryResult } from '../../src/wakes/channel.ts'
import { createEventWriter } from '../../src/wakes/commit/event-writer.ts'
import { Recorder } from '../../src/wakes/run/recorder.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { openStore } from '../support/store.ts'
import { messageSent, subscriptionOf } from './builders.ts'

/** The wake engine over a real store, with a receiver that a test answers for. */
export async function openEngine(deliver: (order: DeliveryOrder) => Promise<DeliveryResult>) {
  const dataDir = mkdtempSync(join(tmpdir(), 'rouse-test-'))
  const clock = new FakeClock()
  const db = await openStore(dataDir, clock)
  await ensureProject(db, defaultProject)
  const changes: { due?: (at: number) => void; changed?: (id: string) => void } = {}
  const notifier = new LogNotifier()
  const journal = createEventWriter(notifier, {
    notifyDue: (at) => changes.due?.(at),
    offer: () => undefined,
    begin: () => {},
    hasPeers: () => false,
    notifyYielded: () => {},
  })
  const { append } = journal
  const noAttempt = () => Promise.reject(new Error('Nothing is tested here.'))
  const channels = { 'a2a-webhook': { deliver, attempt: noAttempt } }
  const context = {
    db,
    clock,
    log: silentLogger,
    append,
    channels,
    notifier,
    recorder: new Recorder(db, journal),
    identities: new Map(),
    areLeasesSafe: () => true,
    hasPeers: () => false,
  }
  const subscriptions: SubscriptionContext = {
    db,
    clock,
    append,
    channels,
    secrets: new SecretBox([Buffer.alloc(32).toString('base64')]),
    newSigningKey: () => 'whsec_',
    checkUrl: () => {},
    changed: (id) => changes.changed?.(id),
  }
  return {
    db,
    clock,
    context,
    subscriptions,
    changes,
    dataDir,
    add(fields: readonly Partial<Subscription>[]): Promise<void> {
      return db.transaction(async (tx) => {
        for (const one of fields) await insertSubscription(tx, subscriptionOf({ projectId: defaultProject, ...one }))
      })
    },
    /** Appends a message and answers its logId. */
    async append(priority = 'high', audience: readonly string[] = ['agent_donna']): Promise<number> {
      const data = { ...messageSent(0).data, priority }
      const event: NewEvent = { type: 'message.sent', actor: '@lola', audience, data }
      const { head } = await logBounds(db, defaultProject)
      await db.transaction((tx) => append(tx, defaultProject, [event]))
      // Whoever sends it may have written of it since.
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
