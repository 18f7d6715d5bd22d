import type { AppendEvents } from '../../log/append.ts'
import type { NewEvent } from '../../log/event.ts'
import { lockLog, numberEvents, writeEvents } from '../../log/event-store.ts'
import type { LogNotifier } from '../../log/log-notifier.ts'
import type { Pipelined, Transaction } from '../../storage/database.ts'
import { pipelined } from '../../storage/pipelined.ts'
import { type EndingRun, endRuns } from './end-runs.ts'
import { findCandidates, indexByAudience, type Scheduler, scheduleWakes } from './schedule.ts'

/** What writers leave for the end of their transaction: events of one project, or a run that has nothing more to send. */
type Deferred = { readonly projectId: string; readonly events: readonly NewEvent[] } | EndingRun

/** The one door to the log for whoever writes. */
export interface EventWriter {
  readonly append: AppendEvents
  /** Ends a run: for a lease whose subscription has nothing before it any more. */
  endRun(tx: Transaction, ending: EndingRun): void
}

/**
 * At the end of a transaction, which is when the log is locked until the commit, the events of all its writers are written, and
 * the subscriptions that they concern are made due, or leased for sending at once. Runs end there too, while nobody else appends:
 * whoever does so later finds their subscriptions idle, and wakes them.
 */
export function createEventWriter(notifier: LogNotifier, sending: Scheduler): EventWriter {
  const close = async (tx: Transaction, left: readonly Deferred[]): Promise<Pipelined> => {
    let last = pipelined()
    for (const [projectId, { events, endings }] of byProject(left)) {
      await last.answered
      last =
        events.length > 0
          ? await append(tx, projectId, events, endings)
          : await endRuns(tx, endings, await lockLog(tx, projectId), notifier.recent, sending)
    }
    return last
  }
  // The log is locked from the first statement on. What follows from one answer is asked for behind it in one go, so that it
  // is not locked for longer than the store takes.
  const append = async (
    tx: Transaction,
    projectId: string,
    events: readonly NewEvent[],
    endings: readonly EndingRun[],
  ): Promise<Pipelined> => {
    const concerned = indexByAudience(events)
    const [numbered, candidates] = await Promise.all([
      numberEvents(tx, projectId, events),
      findCandidates(tx, projectId, events, concerned),
    ])
    const head = numbered[0]!.logId - 1
    const fresh = { written: numbered, concerned }
    tx.onCommit(() => notifier.publish(numbered, events))
    const writing = pipelined(writeEvents(tx, numbered, events))
    const [waking, ending] = await Promise.all([
      scheduleWakes(tx, numbered, concerned, candidates, sending),
      // Behind the events, which it may read back.
      endRuns(tx, endings, head, notifier.recent, sending, fresh),
    ])
    return pipelined(writing.answered, waking.answered, ending.answered)
  }
  return {
    append: async (tx, projectId, events) => {
      if (events.length > 0) tx.beforeCommit(close, { projectId, events })
    },
    endRun: (tx, ending) => tx.beforeCommit(close, ending),
  }
}

interface DeferredOfProject {
  readonly events: NewEvent[]
  readonly endings: EndingRun[]
}

/** In an order of its own, so that two transactions never wait for each other's projects. */
function byProject(left: readonly Deferred[]): [string, DeferredOfProject][] {
  const projects = new Map<string, DeferredOfProject>()
  for (const one of left) {
    const projectId = 'events' in one ? one.projectId : one.subscription.projectId
    const known = projects.get(projectId) ?? { events: [], endings: [] }
    projects.set(projectId, known)
    if ('events' in one) known.events.push(...one.events)
    else known.endings.push(one)
  }
  return [...projects].sort(([a], [b]) => (a < b ? -1 : 1))
}
