import { sleep } from '../../lib/clock.ts'
import { identityOf } from '../../registry/agents/identity.ts'
import type { RecoverySettings } from '../../registry/recovery/gate.ts'
import { readGates } from '../../registry/recovery/gate-store.ts'
import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import { hasCaps } from '../../turns/turn.ts'
import { formOf } from '../rules/window.ts'
import { Lease } from '../store/lease.ts'
import { requeueLease } from '../store/lease-store.ts'
import { finishUnfinished } from './finish-unfinished.ts'
import { PendingReader } from './pending-reader.ts'
import { readWaiting } from './read-waiting.ts'
import type { Run, RunContext, RunControl } from './run.ts'
import { nextWaits, sendDigest, sendLeading } from './send-digest.ts'
import { sendEach } from './send-each.ts'
import { sendReplays } from './send-replays.ts'
import { Sender } from './sender.ts'

const outageMs = 1_000
const identitiesMax = 20_000

/**
 * Works on one leased subscription until nothing is left to send: reads on from the cursor, sends in log order, records, and
 * ends the lease. Returns when the subscription falls due again (ms since the epoch), if the end of the run has that instant. Never rejects.
 */
export async function runSubscription(
  context: RunContext,
  subscription: Subscription,
  owner: string,
  control: RunControl,
): Promise<number | undefined> {
  const lease = new Lease(subscription, owner, context.clock.now())
  const leased = { context, subscription, lease, ...control }
  try {
    const identity = await readIdentity(context, subscription.agentId)
    return await work({ identity, capped: await readCaps(context, subscription), ...leased })
  } catch (error) {
    context.log.error({ err: error, subscriptionId: subscription.id }, 'wake.run_failed')
    return recover(leased)
  }
}

/** Returns when the subscription falls due again, if it does. Rejects when the store fails. */
async function work(run: Run): Promise<number | undefined> {
  const { context, subscription, lease, event } = run
  const sender = new Sender(run)
  const reader = new PendingReader(run)
  // A subscription that was leased for one event was idle, so it has no requested replays.
  let isOurs = event !== undefined || ((await finishUnfinished(run, sender)) && (await sendReplays(run, sender)))
  while (isOurs && (await sendPending(run, sender, reader))) {
    const end = await context.recorder.end(lease, subscription)
    if (end.end === 'released') return end.dueAt ?? undefined
    if (end.end === 'continued') reader.continueWith(end.events, end.hasMore)
    else isOurs = false
  }
  // The next lease finds on record what arrived, and does not send it again.
  await context.recorder.settled(lease)
  return undefined
}

/** Sends the events after the cursor, in the form that the subscription has chosen. Returns false when the lease has ended. */
async function sendPending(run: Run, sender: Sender, reader: PendingReader): Promise<boolean> {
  const waiting = await readWaiting(run)
  if (waiting && (waiting.length > 0 || (await nextWaits(run)))) return sendDigest(run, sender, waiting)
  switch (formOf(run.subscription)) {
    case 'each':
      return sendEach(run, sender, reader)
    case 'digest':
      return sendDigest(run, sender)
    case 'leading':
      return sendLeading(run, sender)
  }
}

/** Caps bind what the gateway itself sends for a turn. */
async function readCaps({ db }: RunContext, subscription: Subscription): Promise<RecoverySettings | undefined> {
  const { kind, projectId, agentId } = subscription
  if (kind === 'push' || subscription.harnessTarget !== 'a2a-webhook') return undefined
  const { settings } = (await readGates(db, projectId, agentId)).effective
  return hasCaps(settings) ? settings : undefined
}

async function readIdentity({ db, identities }: RunContext, agentId: string): Promise<string> {
  const known = identities.get(agentId)
  if (known !== undefined) return known
  const identity = await identityOf(db, agentId)
  if (identities.size >= identitiesMax) identities.clear()
  identities.set(agentId, identity)
  return identity
}

/** After a failure of the store: waits until it accepts writes again, records what was sent, and requeues the rest. */
async function recover({
  context,
  lease,
  signal,
}: Pick<Run, 'context' | 'lease' | 'signal'>): Promise<number | undefined> {
  const { db, clock, recorder } = context
  for (;;) {
    await sleep(clock, outageMs, signal)
    if (signal.aborted) return undefined // the lease runs out
    try {
      await recorder.settled(lease)
      const now = clock.now()
      return (await db.transaction((tx) => requeueLease(tx, lease, now))) ? now : undefined
    } catch {
      // Not yet. The failure that brought us here is logged.
    }
  }
}
