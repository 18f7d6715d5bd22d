import { Problem } from '../../errors.ts'
import { newSubscriptionId } from '../../lib/ids.ts'
import { operatorAudience } from '../../log/event.ts'
import { lockLog } from '../../log/event-store.ts'
import { lockAgent } from '../../registry/agents/agent-store.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import { requireRoom } from '../../registry/callers/caller-limits.ts'
import { requireLiveKey } from '../../registry/callers/live-key.ts'
import { parkedUntilOf } from '../../registry/recovery/recovery-store.ts'
import {
  findMcpSubscription,
  listMcpSubscriptions,
  lockMcpSubscription,
} from '../../registry/subscriptions/mcp-store.ts'
import type { WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import {
  countSubscriptions,
  deleteSubscription,
  insertSubscription,
} from '../../registry/subscriptions/subscription-store.ts'
import type { Transaction } from '../../storage/database.ts'
import { makeDueNow } from '../../wakes/store/due-store.ts'
import { type McpEventChoice, mcpEventCursor, mcpEventTtl } from '../../words/mcp-events.ts'
import type { SubscriptionContext } from '../context.ts'
import { subscriptionEvent } from '../subscription-event.ts'
import { requireCallback } from './callback.ts'
import { mcpSubscriptionId, subscriptionTo } from './choice.ts'
import { type DeliveryStatus, deliveryStatusOf } from './delivery-status.ts'
import { refreshed } from './refresh.ts'
import { type RequestedStart, startPosition } from './start-position.ts'

interface McpSubscribeInput extends RequestedStart {
  readonly choice: McpEventChoice
  readonly url: string
  /** `whsec_` and 24 to 64 bytes in base64. */
  readonly secret: string
  /** null: as long as possible. Absent: the default. */
  readonly ttlMs?: number | null | undefined
}

export interface McpSubscribed {
  readonly id: string
  /** ISO 8601 */
  readonly refreshBefore: string
  readonly cursor: string
  /** Events after the client's cursor are left out, or were given up. */
  readonly truncated: boolean
  /** Of a refresh. */
  readonly deliveryStatus?: DeliveryStatus
}

/** How a call that sends a challenge waits. */
interface ChallengeTurn {
  /** Counts the challenge. Errors: `rate-limited`. */
  readonly spend: () => void
  /** Returns a signal that aborts when the caller is gone. The call frees its place. */
  readonly untilGone: () => AbortSignal
}

/** How long a receiver that has answered a challenge is not asked again. */
const verifiedForMs = 24 * 3_600_000
/** How many of one subscription may be in flight: one that is tried for minutes does not hold the others up. */
const inFlight = 8
/** How long an event is tried. */
const retryForSeconds = 600

/**
 * Makes a subscription to events, or has it live longer. The same caller, URL, type and arguments are the same subscription: another secret
 * is its rotation, and a paused one stays paused. A new receiver proves first that it wants the events.
 * Errors: `invalid-request`, `url-not-allowed`, `limit-exceeded`, `rate-limited`, `callback-not-verified`, `unauthenticated`, `forbidden`.
 * Source: SEP-3415, events/subscribe; D42.
 */
export async function subscribeToEvents(
  context: SubscriptionContext,
  caller: Caller,
  wanted: McpSubscribeInput,
  turn: ChallengeTurn,
): Promise<McpSubscribed> {
  const { db, clock } = context
  requireCallback(context, wanted)
  // Two spellings of an address are one: it is stored as it is dialled.
  const input = { ...wanted, url: new URL(wanted.url).href }
  const mcpId = mcpSubscriptionId(caller, input.url, input.choice)
  const known = await findMcpSubscription(db, mcpId)
  const verifiedAt = await verifiedSince(context, caller, { ...input, mcpId, known }, turn)
  const deliveryStatus = known && isLiving(known, clock.now()) ? await deliveryStatusOf(db, known) : undefined
  const { id, ...answer } = await db.transaction(async (tx) => {
    await requireOwner(tx, caller)
    await requireLiveKey(tx, caller)
    const before = await lockMcpSubscription(tx, mcpId)
    const given = { ...input, mcpId, verifiedAt }
    if (before && isLiving(before, tx.now)) {
      if (!before.target.withoutSubjects) requireReader(caller, 'To refresh a subscription whose events have subjects')
      return refreshed(context, tx, caller, before, given, expiryOf(input, tx.now))
    }
    // Its cursor is the client's now.
    if (before) await deleteSubscription(tx, before.id)
    return made(context, tx, caller, given)
  })
  context.changed(id)
  return { id: mcpId, ...answer, ...(deliveryStatus && { deliveryStatus }) }
}

function isLiving({ expiresAt }: WakeSubscription, now: number): boolean {
  return expiresAt === null || expiresAt > now
}

/** Returns until when a subscription lives. Whatever is wanted is possible within bounds, which the answer has. */
function expiryOf({ ttlMs }: Pick<McpSubscribeInput, 'ttlMs'>, now: number): number {
  const { default: usual, min, max } = mcpEventTtl
  return now + Math.round(Math.min(max, Math.max(min, ttlMs === null ? max : (ttlMs ?? usual))))
}

interface VerifiedInput extends McpSubscribeInput {
  readonly mcpId: string
  readonly verifiedAt: number
}

async function made(
  context: SubscriptionContext,
  tx: Transaction,
  caller: Caller,
  given: VerifiedInput,
): Promise<Omit<McpSubscribed, 'id' | 'deliveryStatus'> & { readonly id: string }> {
  const { projectId, id: agentId } = caller
  const { choice, url, secret, mcpId, verifiedAt } = given
  await requireRoomFor(tx, caller)
  const head = await lockLog(tx, projectId)
  const { logId, isCut } = await startPosition(tx, projectId, given, tx.now)
  if (isCut || logId < head) requireReader(caller, 'A cursor from before now')
  const id = newSubscriptionId()
  const expiresAt = expiryOf(given, tx.now)
  const chosen = subscriptionTo(caller, choice)
  await insertSubscription(tx, {
    ...chosen,
    id,
    target: { ...chosen.target, url, verifiedAt, maxInFlight: inFlight, retryForSeconds },
    signingKey: context.secrets.seal(secret, id),
    cursorLogId: logId,
    parkedUntil: await parkedUntilOf(tx, agentId),
    mcpId,
    expiresAt,
    createdAt: tx.now,
    updatedAt: tx.now,
  })
  if (logId < head) await makeDueNow(tx, id)
  await context.append(tx, projectId, [
    subscriptionEvent('subscription.created', caller, { id, agentId }, { harnessTarget: chosen.harnessTarget }),
  ])
  const refreshBefore = new Date(expiresAt).toISOString()
  return { id, refreshBefore, cursor: mcpEventCursor(projectId, logId), truncated: isCut }
}

/** Returns when the receiver last proved that it wants the events; sends it a challenge where that is too long ago. */
async function verifiedSince(
  context: SubscriptionContext,
  caller: Caller,
  {
    url,
    secret,
    mcpId,
    known,
  }: Pick<VerifiedInput, 'url' | 'secret' | 'mcpId'> & { readonly known: WakeSubscription | undefined },
  turn: ChallengeTurn,
): Promise<number> {
  const { db, clock } = context
  const isRecent = (at: number): boolean => at > clock.now() - verifiedForMs && at <= clock.now()
  // A refresh nearly always ends here, without the others of its caller.
  const own = known?.target.verifiedAt ?? 0
  if (isRecent(own)) return own
  const owner = { agentId: caller.id, projectId: caller.projectId }
  const others = await listMcpSubscriptions(db, owner)
  const last = others.filter(({ target }) => target.url === url).map(({ target }) => target.verifiedAt ?? 0)
  const since = Math.max(0, ...last.filter(isRecent))
  if (since > 0) return since
  if (known === undefined) await requireRoomFor(db, caller)
  turn.spend()
  const reason = await context.challenge({ url, mcpId, secret, payer: owner, signal: turn.untilGone() })
  if (reason === undefined) return clock.now()
  throw new Problem('callback-not-verified', {
    field: 'url',
    detail: `url: the receiver has not sent the challenge back (${reason}). It answers a POST of {"type":"verification","challenge":"…"} with a 2xx and {"challenge":"…"}, within the gateway's time-out.`,
    extra: { reason },
  })
}

async function requireRoomFor(db: Parameters<typeof countSubscriptions>[0], caller: Caller): Promise<void> {
  const remedy = 'Unsubscribe from what you do not use; what is not refreshed ends by itself.'
  requireRoom(caller, 'subscriptions', await countSubscriptions(db, caller.id), remedy)
}

/** Nobody gives what he has not. Errors: `forbidden`. Source: D46. */
function requireReader({ scopes }: Caller, what: string): void {
  if (scopes.includes('read')) return
  throw new Problem('forbidden', {
    detail: `${what} needs the scope "read", which this key does not have. Use one that has it.`,
    extra: { scope: 'read' },
  })
}

async function requireOwner(tx: Transaction, { id }: Caller): Promise<void> {
  if (id === operatorAudience || (await lockAgent(tx, id))) return
  throw new Problem('agent-not-found', { detail: 'The agent was removed meanwhile.' })
}
