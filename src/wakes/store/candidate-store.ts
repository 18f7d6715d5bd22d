import type { SubscriptionRow } from '../../registry/subscriptions/subscription-row.ts'
import { batchesOf, batchSizes } from '../../storage/batch-sizes.ts'
import type { Transaction } from '../../storage/database.ts'
import { pieceMax } from '../../storage/in-pieces.ts'
import { ListStatement } from '../../storage/list.ts'
import { lateFilter, limited, p, type SQL, type Statement, sql, statement } from '../../storage/statement.ts'
import type { Trigger } from '../../words/events.ts'
import { gatedTargets } from '../../words/targets.ts'

type CommonColumns = Pick<SubscriptionRow, 'id' | 'agentId' | 'audience' | 'windowUntil' | 'cursorLogId' | 'dueAt'>
type ChannelColumns = 'harnessTarget' | 'coalesceMs' | 'streamGateway' | 'parkedUntil' | 'streamCapabilities'

interface WakeColumns extends CommonColumns, Pick<SubscriptionRow, ChannelColumns | 'filters' | 'target'> {
  readonly kind: 'wake'
  readonly trigger: Trigger
}

/** A subscription whose filters and target are long, and are not read yet. `size`: of both, in bytes. */
export interface LongCandidate extends Omit<WakeColumns, 'filters' | 'target'> {
  readonly filters: null
  readonly target: null
  readonly size: number
}

/** A subscription with all that a decision needs. Its JSON is not parsed yet: most candidates do not need it. */
export type WholeCandidate = WakeColumns | (CommonColumns & { readonly kind: 'push' })

/** An active subscription that an event may wake. */
export type Candidate = WholeCandidate | LongCandidate

/** Filters and targets with more bytes than this are read a few at a time. */
const shortMax = 512
const readsAtOnce = 4

const columns =
  sql.raw(`id, agent_id as "agentId", audience, kind, trigger, harness_target as "harnessTarget", coalesce_ms as "coalesceMs", stream_gateway as "streamGateway", stream_capabilities as "streamCapabilities",
  window_until as "windowUntil", cursor_log_id as "cursorLogId", due_at as "dueAt", parked_until as "parkedUntil"`)
const size = sql.raw('octet_length(filters) + octet_length(target)')
const ifShort = (column: string): SQL =>
  sql`case when ${size} <= ${sql.raw(String(shortMax))} then ${sql.raw(column)} end as ${sql.raw(column)}`
const shortColumns = sql`${columns}, ${size} as "size", ${ifShort('filters')}, ${ifShort('target')}`
// A subscription that is due or leased needs no scheduling: its run reads to the end of the log. But where presence decides, it
// decides about each event when it is appended.
// The index `subscription_open` has the same words.
const isOpen = sql.raw(`status = 'active' and (due_at is null or harness_target in ('${gatedTargets.join("', '")}'))`)
// Those that an act of the audience itself may wake. `target` is written by JSON.stringify, so no text in it reads like the member.
const wakesForOwn = lateFilter(sql.raw(`agent_id <> audience or target like '%"includeOwn":true%'`))

/** The same subscriptions of several audiences, at most a page, and of one audience page by page. */
interface Reads {
  readonly ofMany: ListStatement<{ projectId: string; limit: number }, Candidate>
  readonly ofOne: Statement<{ projectId: string; audience: string; after: string; limit: number }, Candidate>
}
const readsWhere = (condition: SQL): Reads => ({
  ofMany: new ListStatement(
    (audiences) =>
      sql`select ${shortColumns} from subscription where audience in (${audiences}) and project_id = ${p('projectId')} and ${condition} ${limited}`,
  ),
  // The index of audiences has the ids on SQLite. On PostgreSQL it has not, and an order by the id alone could read all ids of the store.
  ofOne: statement(
    sql`select ${shortColumns} from subscription where audience = ${p('audience')} and project_id = ${p('projectId')} and ${condition}
      and id /*postgres || '' */ > ${p('after')} order by id /*postgres || '' */ ${limited}`,
  ),
})
const idle = readsWhere(isOpen)
const idleForOwn = readsWhere(sql`${isOpen} and ${wakesForOwn}`)
const whole = new ListStatement<object, WakeColumns>(
  (ids) => sql`select ${columns}, filters, target from subscription where id in (${ids}) and ${isOpen}`,
)

interface CandidateQuery {
  readonly reads: Reads
  readonly audiences: readonly string[]
  readonly after: string
}

/**
 * Returns the active subscriptions of audiences that scheduling can change. Of the audiences `notOwn`, which caused all of their events
 * themselves, only those that own acts may wake. Few are read at once; many are read in pages, and the event loop turns between them.
 */
export async function readCandidates(
  tx: Transaction,
  projectId: string,
  audiences: { readonly idle: readonly string[]; readonly notOwn: readonly string[] },
  isWanted: (candidate: Candidate) => boolean,
): Promise<Candidate[]> {
  const found: Candidate[] = []
  const waiting = [...readsOf(idle, audiences.idle), ...readsOf(idleForOwn, audiences.notOwn)]
  for (let rows = 0; waiting.length > 0; ) {
    if (rows >= pieceMax) {
      await new Promise(setImmediate)
      rows = 0
    }
    const round = waiting.splice(0, readsAtOnce)
    const pages = await Promise.all(round.map((read) => readPage(tx, projectId, read)))
    for (const [index, page] of pages.entries()) {
      const read = round[index]!
      rows += page.length
      if (page.length === pieceMax) waiting.push(...readsAfter(read, page))
      if (page.length === pieceMax && read.audiences.length > 1) continue
      for (const candidate of page) if (isWanted(candidate)) found.push(candidate)
    }
  }
  return found
}

function* readsOf(reads: Reads, audiences: readonly string[]): Generator<CandidateQuery> {
  for (const batch of batchesOf(audiences)) yield { reads, audiences: batch, after: '' }
}

function readPage(
  tx: Transaction,
  projectId: string,
  { reads, audiences, after }: CandidateQuery,
): Promise<Candidate[]> {
  if (audiences.length > 1) return reads.ofMany.all(tx, { projectId, limit: pieceMax }, audiences)
  return tx.all(reads.ofOne, { projectId, audience: audiences[0]!, after, limit: pieceMax })
}

/** The reads after a full page: the next one of an audience; of several audiences all, in smaller batches. */
function readsAfter({ reads, audiences }: CandidateQuery, page: readonly Candidate[]): CandidateQuery[] {
  if (audiences.length === 1) return [{ reads, audiences, after: page.at(-1)!.id }]
  const smaller = batchSizes.find((one) => one < audiences.length)!
  return Array.from({ length: audiences.length / smaller }, (_, index) => ({
    reads,
    audiences: audiences.slice(index * smaller, (index + 1) * smaller),
    after: '',
  }))
}

/** True when a candidate was read without its long texts. */
export function isLong(candidate: Candidate): candidate is LongCandidate {
  return candidate.kind === 'wake' && candidate.filters === null
}

/** Reads candidates again, with their long texts. Those that can no longer be scheduled are left out. */
export function readWhole(tx: Transaction, candidates: readonly LongCandidate[]): Promise<WholeCandidate[]> {
  return whole.all(
    tx,
    {},
    candidates.map(({ id }) => id),
  )
}
