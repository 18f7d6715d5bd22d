import { ulidFloor } from '../../lib/ids.ts'
import type { Transaction } from '../../storage/database.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'
import { coalesceWindowMax, type HarnessTarget, harnessTargets, targets } from '../../words/targets.ts'
import type { Attempt } from '../channel.ts'
import { beginsWithinMs } from '../rules/begun-by-wake.ts'

/** True when the receivers of a target are called, wherever they are: a wake may start a process there. */
export const isCalled = (target: HarnessTarget): boolean => targets[target].hasChannel && !targets[target].connects

const calledTargets = harnessTargets.filter(isCalled)
const isCalledWake = sql.raw(`kind = 'wake' and harness_target in ('${calledTargets.join("', '")}')`)
/** A wake may be tried this long, and is recorded after it was answered. */
const recordedWithinMs = 120_000
/** The time in an event id is that of its newest event, which waited for its window, and for its tries. */
const idLagMs = coalesceWindowMax * 1_000 + recordedWithinMs
const arrivalsMax = 50

const delivered = statement<
  {
    agentId: string
    fromId: string
    toId: string
    from: number
    to: number
    limit: number
  },
  { attempts: string }
>(sql`select attempts from delivery
  where subscription_id in (select id from subscription where agent_id = ${p('agentId')} and ${isCalledWake})
    and event_id >= ${p('fromId')} and event_id < ${p('toId')} and outcome = 'delivered'
    and updated_at >= ${p('from')} and updated_at <= ${p('to')}
  order by event_id desc ${limited}`)
// One whose last try has failed is not on its way: it waits for the next.
const onTheirWay = statement<{ agentId: string; fromId: string }, { id: string }>(sql`select id from subscription
  where agent_id = ${p('agentId')} and ${isCalledWake} and lease_owner is not null and not exists (select 1 from delivery
    where subscription_id = subscription.id and event_id >= ${p('fromId')} and next_attempt_at is not null) limit 1`)

/**
 * Returns when wakes of an agent arrived at receivers that are called, around an instant (ms since the epoch): at least those that
 * may have begun something then.
 */
export async function arrivalsAround(tx: Transaction, agentId: string, instant: number): Promise<number[]> {
  const from = instant - beginsWithinMs
  const fromId = ulidFloor(from - idLagMs)
  const to = instant + recordedWithinMs
  const rows = await tx.all(delivered, { agentId, fromId, toId: ulidFloor(to), from, to, limit: arrivalsMax })
  const arrivals = rows
    .map(({ attempts }) => arrivedAt(JSON.parse(attempts) as Attempt[]))
    .filter((at) => at !== undefined)
  const isRecent = tx.now - instant < beginsWithinMs
  if (isRecent && (await tx.get(onTheirWay, { agentId, fromId }))) arrivals.push(instant)
  return arrivals
}

function arrivedAt(attempts: readonly Attempt[]): number | undefined {
  const last = attempts.at(-1)
  return last && Date.parse(last.at)
}
