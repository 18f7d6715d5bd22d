import type { Sweep } from '../lib/sweeper.ts'
import type { Core } from '../log/core.ts'
import type { NewEvent } from '../log/event.ts'
import { lockLog } from '../log/event-store.ts'
import type { Transaction } from '../storage/database.ts'
import type { Need } from './need.ts'
import { clearedEvent, raisedEvent } from './need-event.ts'
import { closeNotice, forgetNotice, listNotices, listWatchedProjects, saveNotice } from './need-store.ts'
import { type NeedNotice, nextStep } from './telling.ts'

const everyMs = 5_000
/** A receiver that answers a later try within this time is no trouble, in ms. */
const graceMs = 10_000

/** The most notices of one look. The rest follow at the next one. */
const noticesMax = 500

/** A need before its text is read. */
interface OpenNeed extends Pick<Need, 'kind' | 'agent'> {
  readonly id: string
  /** ms since the epoch. */
  readonly createdAt: number
  readonly load: () => Promise<Need>
}

interface NeedContext extends Core {
  readonly readNeeds: (projectId: string) => Promise<readonly OpenNeed[]>
}

/**
 * Compares what waits for a person with what operators were notified of, where one has subscribed to it, on one gateway at a time, and appends an
 * event for each difference. What needs a person may begin without any event: a report of presence, the first failures of a receiver,
 * the time itself. A subscription reads the events like all others.
 */
export function needSweep(context: NeedContext): Sweep {
  const { db, log } = context
  return {
    name: 'needs',
    everyMs,
    async run(signal) {
      for (const projectId of await listWatchedProjects(db)) {
        if (signal.aborted) break
        await look(context, projectId).catch((err: unknown) =>
          log.error({ err, project: projectId }, 'needs.look_failed'),
        )
      }
      return false
    },
  }
}

async function look({ db, clock, append, readNeeds }: NeedContext, projectId: string): Promise<void> {
  const needs = await readNeeds(projectId)
  const soon = clock.now() - graceMs
  const lasting = needs.filter(({ kind, createdAt }) => kind !== 'retrying' || createdAt <= soon)
  const byId = new Map(lasting.map((need) => [need.id, need]))
  const found = differences(await listNotices(db, projectId), byId, clock.now()).slice(0, noticesMax)
  if (found.length === 0) return
  const loaded = await Promise.all(found.map(async ({ id, need }) => [id, await need?.load()] as const))
  const texts = new Map(loaded)
  await db.transaction(async (tx) => {
    // Another gateway may notify of the same: the notices are read again under the lock of the log.
    await lockLog(tx, projectId)
    const events: NewEvent[] = []
    for (const difference of differences(await listNotices(tx, projectId), byId, tx.now)) {
      if (!texts.has(difference.id)) continue
      const event = await apply(tx, projectId, difference, texts.get(difference.id))
      if (event) events.push(event)
    }
    if (events.length > 0) await append(tx, projectId, events)
  })
}

interface Difference {
  readonly id: string
  readonly step: 'raise' | 'clear' | 'forget'
  readonly need: OpenNeed | undefined
  readonly notice: NeedNotice | undefined
}

function differences(notices: readonly NeedNotice[], needs: ReadonlyMap<string, OpenNeed>, now: number): Difference[] {
  const known = new Map(notices.map((one) => [one.id, one]))
  const ids = new Set([...known.keys(), ...needs.keys()])
  return [...ids].flatMap((id) => {
    const [need, one] = [needs.get(id), known.get(id)]
    const step = nextStep(one, need?.kind, now)
    return step === 'wait' ? [] : [{ id, step, need, notice: one }]
  })
}

/** Writes a difference, and returns its event, if it has one. */
async function apply(tx: Transaction, projectId: string, { id, step, notice }: Difference, need?: Need) {
  if (step === 'raise' && need) {
    await saveNotice(tx, projectId, { id, kind: need.kind, agent: need.agent })
    return raisedEvent(need)
  }
  if (step === 'clear' && notice) {
    await closeNotice(tx, projectId, id)
    return clearedEvent(notice)
  }
  await forgetNotice(tx, projectId, id)
  return undefined
}
