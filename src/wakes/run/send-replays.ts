import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import { DigestBuilder } from '../content/digest.ts'
import { digestEmission, type Emission, singleEmission } from '../content/emission.ts'
import { hidesSubjects } from '../content/payload.ts'
import { pageMax, readPending } from '../read/pending.ts'
import { deleteReplays, type Replay, readReplays } from '../store/replay-store.ts'
import type { Run } from './run.ts'
import type { Sender } from './sender.ts'

/**
 * Sends the events whose replay was requested, before anything newer. The cursor and the watermark stay where they
 * are. Returns false when the lease has ended.
 */
export async function sendReplays(run: Run, sender: Sender): Promise<boolean> {
  const { context, subscription, lease } = run
  const { db, recorder } = context
  const { id } = subscription
  for (;;) {
    const replays = await readReplays(db, id, pageMax)
    if (replays.length === 0) return true
    for (const emission of await emissionsOf(run, replays)) {
      if (!(await sender.send({ ...emission, replayed: true }, lease.progress.cursorLogId))) return false
      await recorder.settled(lease)
      await db.transaction((tx) => deleteReplays(tx, id, emission.logId))
    }
    await db.transaction((tx) => deleteReplays(tx, id, replays.at(-1)!.logId)) // and those whose event is gone
  }
}

/** One emission for each event, or one digest of them all where the subscription coalesces. */
async function emissionsOf(run: Run, replays: readonly Replay[]): Promise<Emission[]> {
  const { context, subscription, identity, lease } = run
  const { db, clock } = context
  const { lastEmittedLogId } = lease.progress
  const coalesces = subscription.kind === 'wake' && subscription.coalesceMs > 0
  const digest = new DigestBuilder(hidesSubjects(subscription))
  const emissions: Emission[] = []
  for (const replay of replays) {
    const [event] = (await readPending(db, subscription, replay.logId - 1, replay.logId)).events
    if (!event) continue
    if (coalesces) digest.add(event)
    else emissions.push(singleEmission(replayOf(subscription, replay), event, lastEmittedLogId, clock.now()))
  }
  if (digest.count === 0) return emissions
  const replayed = { subscription: replayOf(subscription, replays.at(-1)!), identity }
  return [digestEmission(replayed, digest, lastEmittedLogId, clock.now())]
}

/** The subscription with the request as its generation: the emission gets a new `eventId`, the same for each of its attempts. */
function replayOf(subscription: Subscription, { requestedAt }: Replay): Subscription {
  return { ...subscription, generation: requestedAt, generationAt: requestedAt }
}
