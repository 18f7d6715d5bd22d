import type { Sweep } from '../lib/sweeper.ts'
import type { Core } from '../log/core.ts'
import type { NewEvent } from '../log/event.ts'
import { lockLog } from '../log/event-store.ts'
import type { Transaction } from '../storage/database.ts'
import type { Need } from './need.ts'
import { clearedEvent, raisedEvent } from './need-event.ts'
import { closeNotice, forgetNotice, listNotices, listWatchedProjects, saveNotice } from './need-store.ts'
import { type NeedNotice, nextStep } from './telling.ts'
import { urgencyOf } from './urgency.ts'

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

/** A need that stops work, that waits, and that operators were notified of. */
export interface RaisedNeed extends Pick<OpenNeed, 'load'> {
  /** The event by which it was raised. */
  readonly raisedLogId: number
}

/** Notifies the devices of operators. */
interface Push {
  /** The projects in which an operator has a device. */
  readonly projects: () => Promise<readonly string[]>
  /** `raised`: the longest wait first. */
  readonly notify: (projectId: string, raised: readonly RaisedNeed[]) => Promise<void>
}

interface NeedContext extends Core {
  /** The most urgent first. */
  readonly readNeeds: (projectId: string) => Promise<readonly OpenNeed[]>
  /** Undefined: it is off. */
  readonly push: Push | undefined
}

/**
 * Compares what waits for a person with what operators were notified of, where one has subscribed to it, on one gateway at a time, and appends an
 * event for each difference. What needs a person may begin without any event: a report of presence, the first failures of a receiver,
 * the time itself. A subscription reads the events like all others.
 */
export function needSweep(context: NeedContext): Sweep {
  const { db, log, push } = context
  return {
    name: 'needs',
    everyMs,
    async run(signal) {
      const withDevices = new Set(await push?.projects())
      for (const projectId of new Set([...(await listWatchedProjects(db)), ...withDevices])) {
        if (signal.aborted) break
        await look(context, projectId, withDevices.has(projectId)).catch((err: unknown) =>
          log.error({ err, project: projectId }, 'needs.look_failed'),
        )
      }
      return false
    },
  }
}

async function look(context: NeedContext, projectId: string, hasDevices: boolean): Promise<void> {
  const { db, clock, readNeeds, push } = context
  const needs = await readNeeds(projectId)
  const soon = clock.now() - graceMs
  const lasting = needs.filter(({ kind, createdAt }) => kind !== 'retrying' || createdAt <= soon)
  const byId = new Map(lasting.map((need) => [need.id, need]))
  const found = differences(await listNotices(db, projectId), byId, clock.now()).slice(0, noticesMax)
  if (found.length > 0) await record(context, projectId, byId, found)
  if (hasDevices) await push?.notify(projectId, raisedOf(await listNotices(db, projectId), byId))
}

/** What stops work, of that which operators were notified of. What was put off is none of it. */
function raisedOf(notices: readonly NeedNotice[], needs: ReadonlyMap<string, OpenNeed>): RaisedNeed[] {
  const raised = new Map(
    notices.flatMap((one) => (one.isOpen && one.snoozedUntil === 0 ? [[one.id, one.raisedLogId] as const] : [])),
  )
  return [...needs.values()].flatMap(({ id, kind, load }) => {
    const raisedLogId = raised.get(id)
    return raisedLogId !== undefined && urgencyOf[kind] === 'stops' ? [{ raisedLogId, load }] : []
  })
}

async function record(
  { db, append }: NeedContext,
  projectId: string,
  byId: ReadonlyMap<string, OpenNeed>,
  found: readonly Difference[],
): Promise<void> {
  const loaded = await Promise.all(found.map(async ({ id, need }) => [id, await need?.load()] as const))
  const texts = new Map(loaded)
  await db.transaction(async (tx) => {
    // Another gateway may notify of the same: the notices are read again under the lock of the log.
    const head = await lockLog(tx, projectId)
    const events: NewEvent[] = []
    for (const difference of differences(await listNotices(tx, projectId), byId, tx.now)) {
      if (!texts.has(difference.id)) continue
      const logId = head + events.length + 1
      const event = await apply(tx, projectId, difference, logId, texts.get(difference.id))
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
  const ids = new Set([...needs.keys(), ...known.keys()])
  return [...ids].flatMap((id) => {
    const [need, one] = [needs.get(id), known.get(id)]
    const step = nextStep(one, need?.kind, now)
    return step === 'wait' ? [] : [{ id, step, need, notice: one }]
  })
}

/** Writes a difference, and returns its event, if it has one. */
async function apply(tx: Transaction, projectId: string, { id, step, notice }: Difference, logId: number, need?: Need) {
  if (step === 'raise' && need) {
    await saveNotice(tx, projectId, { id, kind: need.kind, agent: need.agent, raisedLogId: logId })
    return raisedEvent(need)
  }
  if (step === 'clear' && notice) {
    await closeNotice(tx, projectId, id)
    return clearedEvent(notice)
  }
  await forgetNotice(tx, projectId, id)
  return undefined
}
