import { notConnected, type SubscriptionStatus } from '../../registry/subscriptions/status.ts'
import type { StreamCapability } from '../../registry/subscriptions/stream-capabilities.ts'
import { connectingTargets } from '../../registry/subscriptions/targets.ts'
import type { Transaction } from '../../storage/database.ts'
import { p, sql, statement } from '../../storage/statement.ts'
import { endsLease } from './lease-columns.ts'
import { canBecome, resumes, stopsAs } from './subscription-state.ts'

/** A stream that a subscription's wakes are written to. */
export interface StreamKey {
  readonly streamId: string
  /** The gateway that it is connected to. */
  readonly gatewayId: string
  /** What its reader can do. */
  readonly capabilities: readonly StreamCapability[]
}

const streamColumns = sql`stream_id = ${p('streamId')}, stream_gateway = ${p('gatewayId')},
  stream_capabilities = ${p('capabilities')}`
interface Connecting {
  id: string
  streamId: string
  gatewayId: string
  capabilities: string
  now: number
}
// The lease ends: what was on its way is written to the new stream.
const takeOver = statement<Connecting>(sql`update subscription
  set ${streamColumns}, due_at = ${p('now')}, lease_owner = null, updated_at = ${p('now')}
  where id = ${p('id')} and status = 'active'`)
const keep = statement<Connecting>(sql`update subscription set ${streamColumns}, updated_at = ${p('now')}
  where id = ${p('id')} and status = 'paused'`)
const activate = statement<Connecting & { status: string; whyNot: null; dueAt: number }>(sql`update subscription
  set ${streamColumns}, ${endsLease}, ${resumes}
  where id = ${p('id')} and ${canBecome('active', ['waiting', 'degraded'])}`)

const noStream = sql.raw("stream_id = null, stream_gateway = null, stream_capabilities = '[]'")
// Of a target that has been changed meanwhile only the stream is forgotten.
const isConnected = sql`${canBecome('waiting', ['active'])} and ${sql.raw(`harness_target in ('${connectingTargets.join("', '")}')`)}`
// One that was idle has looked at everything.
const cursor = sql`cursor_log_id = case when due_at is null
    then (select log_head from project where project.id = subscription.project_id) else cursor_log_id end`
const wait = statement<{ id: string; streamId: string; reason: string; now: number }>(sql`update subscription
  set ${cursor}, ${stopsAs('waiting')}, ${noStream}
  where id = ${p('id')} and stream_id = ${p('streamId')} and ${isConnected}`)
const forget = statement<{ id: string; streamId: string }>(
  sql`update subscription set ${noStream} where id = ${p('id')} and stream_id = ${p('streamId')}`,
)
const waitAllOf = statement<{ gatewayId: string; reason: string; now: number }>(sql`update subscription
  set ${cursor}, ${stopsAs('waiting')}, ${noStream} where stream_gateway = ${p('gatewayId')} and ${isConnected}`)
const forgetAllOf = statement<{ gatewayId: string }>(
  sql`update subscription set ${noStream} where stream_gateway = ${p('gatewayId')}`,
)
const waitAll = statement<{ reason: string; now: number }>(sql`update subscription
  set ${cursor}, ${stopsAs('waiting')}, ${noStream} where stream_gateway is not null and ${isConnected}`)
const forgetAll = statement<object>(sql`update subscription set ${noStream} where stream_gateway is not null`)

/**
 * Connects a subscription to a stream: the newest stream has it. One that waited or was degraded becomes active, with one digest of
 * what gathered; a paused one stays paused. Source: D28, D29, D31.
 */
export async function connectStream(
  tx: Transaction,
  { id, status }: { readonly id: string; readonly status: SubscriptionStatus },
  { streamId, gatewayId, capabilities }: StreamKey,
): Promise<void> {
  const row = { id, streamId, gatewayId, capabilities: JSON.stringify(capabilities), now: tx.now }
  if (status === 'active') await tx.run(takeOver, row)
  else if (status === 'paused') await tx.run(keep, row)
  else await tx.run(activate, { ...row, status: 'active', whyNot: null, dueAt: tx.now })
}

/** Ends the connection of a subscription to a stream: it waits for the next one. False: another stream has it already. */
export async function disconnectStream(tx: Transaction, id: string, streamId: string): Promise<boolean> {
  if ((await tx.run(wait, { id, streamId, reason: notConnected, now: tx.now })) > 0) return true
  await tx.run(forget, { id, streamId })
  return false
}

/** Ends the connections of a gateway that is gone. */
export async function disconnectStreamsOf(tx: Transaction, gatewayId: string): Promise<void> {
  await tx.run(waitAllOf, { gatewayId, reason: notConnected, now: tx.now })
  await tx.run(forgetAllOf, { gatewayId })
}

/** Ends every connection. Only where no other gateway can be alive on this store. */
export async function disconnectStreams(tx: Transaction): Promise<void> {
  await tx.run(waitAll, { reason: notConnected, now: tx.now })
  await tx.run(forgetAll, {})
}
