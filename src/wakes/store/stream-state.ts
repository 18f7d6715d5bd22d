import { notConnected, type SubscriptionStatus } from '../../registry/subscriptions/status.ts'
import type { StreamCapability } from '../../registry/subscriptions/stream-capabilities.ts'
import type { Transaction } from '../../storage/database.ts'
import { ListStatement } from '../../storage/list.ts'
import { p, sql, statement } from '../../storage/statement.ts'
import { connectingTargets } from '../../words/targets.ts'
import { endsLease } from './lease-columns.ts'
import { canBecome, resumes, stopsAs } from './subscription-state.ts'

/** A stream that a subscription's wakes are written to. */
export interface StreamKey {
  readonly streamId: string
  /** The gateway that it is connected to. */
  readonly gatewayId: string
  /** The capabilities of its reader. */
  readonly capabilities: readonly StreamCapability[]
}

const streamColumns = sql`stream_id = ${p('streamId')}, stream_gateway = ${p('gatewayId')},
  stream_capabilities = ${p('capabilities')}`
interface Connecting {
  streamId: string
  gatewayId: string
  capabilities: string
  now: number
}
// The lease ends: what was on its way is written to the new stream.
const takeOver = new ListStatement<Connecting>(
  (ids) => sql`update subscription
  set ${streamColumns}, due_at = ${p('now')}, lease_owner = null, updated_at = ${p('now')}
  where id in (${ids}) and status = 'active'`,
)
const keep = new ListStatement<Connecting>(
  (ids) => sql`update subscription set ${streamColumns}, updated_at = ${p('now')}
  where id in (${ids}) and status = 'paused'`,
)
const activate = new ListStatement<Connecting & { status: string; whyNot: null; dueAt: number }>(
  (ids) => sql`update subscription
  set ${streamColumns}, ${endsLease}, ${resumes}
  where id in (${ids}) and ${canBecome('active', ['waiting', 'degraded'])}`,
)

const noStream = sql.raw("stream_id = null, stream_gateway = null, stream_capabilities = '[]'")
// Of a target that has been changed meanwhile only the stream is forgotten.
const isConnected = sql`${canBecome('waiting', ['active'])} and ${sql.raw(`harness_target in ('${connectingTargets.join("', '")}')`)}`
// One that was idle has looked at everything.
const cursor = sql`cursor_log_id = case when due_at is null
    then (select log_head from project where project.id = subscription.project_id) else cursor_log_id end`
const wait = new ListStatement<{ reason: string; now: number }, { id: string }>(
  (ids) => sql`update subscription set ${cursor}, ${stopsAs('waiting')}, ${noStream}
  where id in (${ids}) and ${isConnected} returning id`,
)
const forget = new ListStatement((ids) => sql`update subscription set ${noStream} where id in (${ids})`)
const waitAllOf = statement<{ gatewayId: string; reason: string; now: number }>(sql`update subscription
  set ${cursor}, ${stopsAs('waiting')}, ${noStream} where stream_gateway = ${p('gatewayId')} and ${isConnected}`)
const forgetAllOf = statement<{ gatewayId: string }>(
  sql`update subscription set ${noStream} where stream_gateway = ${p('gatewayId')}`,
)
const waitAll = statement<{ reason: string; now: number }>(sql`update subscription
  set ${cursor}, ${stopsAs('waiting')}, ${noStream} where stream_gateway is not null and ${isConnected}`)
const forgetAll = statement<object>(sql`update subscription set ${noStream} where stream_gateway is not null`)

/**
 * Connects subscriptions to a stream: the newest stream has them. Those that waited or were degraded become active, each with one digest
 * of what gathered; paused ones stay paused. Call it with the subscriptions locked, and as they are then. Source: D28, D29, D31.
 */
export async function connectStream(
  tx: Transaction,
  subscriptions: readonly { readonly id: string; readonly status: SubscriptionStatus }[],
  { streamId, gatewayId, capabilities }: StreamKey,
): Promise<void> {
  const row = { streamId, gatewayId, capabilities: JSON.stringify(capabilities), now: tx.now }
  const those = (...statuses: SubscriptionStatus[]): string[] =>
    subscriptions.filter(({ status }) => statuses.includes(status)).map(({ id }) => id)
  await takeOver.run(tx, row, those('active'))
  await keep.run(tx, row, those('paused'))
  await activate.run(tx, { status: 'active', whyNot: null, dueAt: tx.now, ...row }, those('waiting', 'degraded'))
}

/**
 * Ends the connection of subscriptions to their streams: those that were active wait for the next one. Call it with the subscriptions
 * locked, and only for those that still belong to the stream that ends. Returns the ids of those that wait now.
 */
export async function disconnectStream(tx: Transaction, ids: readonly string[]): Promise<Set<string>> {
  const waiting = await wait.all(tx, { reason: notConnected, now: tx.now }, ids)
  const waits = new Set(waiting.map(({ id }) => id))
  await forget.run(
    tx,
    {},
    ids.filter((id) => !waits.has(id)),
  )
  return waits
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
