import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import { DigestBuilder } from '../content/digest.ts'
import { digestEmission, type Emission, singleEmission } from '../content/emission.ts'
import { pageMax, readPending } from '../read/pending.ts'
import type { Lease } from '../store/lease-store.ts'
import { deleteReplays, type Replay, readReplays } from '../store/replay-store.ts'
import type { RunContext } from './run-context.ts'
import type { Sender } from './sender.ts'

/**
 * What somebody asked to have again, before anything newer: the cursor and the watermark stay where they are. False: the
 * lease has ended.
 */
export async function sendReplays(
  context: RunContext,
  subscription: Subscription,
  identity: string,
  lease: Lease,
  sender: Sender,
): Promise<boolean> {
  const { db, recorder } = context
  const { id } = subscription
  for (;;) {
    const replays = await readReplays(db, id, pageMax)
    if (replays.length === 0) return true
    for (const emission of await emissionsOf(context, subscription, identity, lease, replays)) {
      if (!(await sender.send({ ...emission, replayed: true }, lease.progress.cursorLogId))) return false
      await recorder.settled(lease)
      await db.transaction((tx) => deleteReplays(tx, id, emission.logId))
    }
    await db.transaction((tx) => deleteReplays(tx, id, replays.at(-1)!.logId)) // and those whose event is gone
  }
}

/** Each by itself, or all as one digest where the subscription coalesces. */
async function emissionsOf(
  { db, clock }: RunContext,
  subscription: Subscription,
  identity: string,
  lease: Lease,
  replays: readonly Replay[],
): Promise<Emission[]> {
  const { lastEmittedLogId } = lease.progress
  const together = subscription.kind === 'wake' && subscription.coalesceMs > 0
  const digest = new DigestBuilder()
  const emissions: Emission[] = []
  for (const replay of replays) {
    const [event] = (await readPending(db, subscription, replay.logId - 1, replay.logId)).events
    if (!event) continue
    if (together) digest.add(event)
    else emissions.push(singleEmission(askedFor(subscription, replay), event, lastEmittedLogId, clock.now()))
  }
  if (digest.count === 0) return emissions
  return [digestEmission(askedFor(subscription, replays.at(-1)!), identity, digest, lastEmittedLogId, clock.now())]
}

/** The request makes the emission a new one, and the same for each of its retries. */
function askedFor(subscription: Subscription, { requestedAt }: Replay): Subscription {
  return { ...subscription, generation: requestedAt, generationAt: requestedAt }
}
