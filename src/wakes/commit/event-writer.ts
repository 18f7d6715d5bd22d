import type { AppendEvents } from '../../log/append.ts'
import type { NewEvent } from '../../log/event.ts'
import { lockLog, numberEvents, writeEvents } from '../../log/event-store.ts'
import type { LogNotifier } from '../../log/log-notifier.ts'
import type { PipelinedStatements, Transaction } from '../../storage/database.ts'
import { pipelined } from '../../storage/pipelined.ts'
import { KeptCounts } from '../store/kept-counts.ts'
import { decideWakes } from './decide-wakes.ts'
import { endRuns } from './end-runs.ts'
import type { DeferredEnd, EndingRun, RunEnds } from './run-end.ts'
import { findCandidates, indexByAudience, type Scheduler, scheduleWakes } from './schedule.ts'

/** Work that a writer leaves for the end of its transaction: events of one project, or a run that has nothing more to send. */
type Deferred = { readonly projectId: string; readonly events: readonly NewEvent[] } | DeferredEnd

/** The only writer of the log. */
export interface EventWriter {
  readonly append: AppendEvents
  /** Ends runs at the end of the transaction. The result is filled in there: read it after the commit. */
  endRuns(tx: Transaction, runs: readonly EndingRun[]): RunEnds
  /** From now on subscriptions that fall due are offered to this scheduler. Before, they only become due in the store. */
  connect(scheduler: Scheduler): void
}

/** Sends nothing: a dispatcher finds what is due in the store. */
const noScheduler: Scheduler = {
  notifyDue() {},
  offer: () => undefined,
  begin() {},
  hasPeers: () => false,
  notifyYielded() {},
}

/**
 * Writes the events of all writers together at the end of the transaction, when the log is locked until the commit. The subscriptions that
 * they concern become due, or are leased and sent for at once. Runs end there too, while no other transaction can append: a later event
 * finds their subscriptions idle and schedules them.
 * @param kept counts the events that are held
 */
export function createEventWriter(notifier: LogNotifier, kept = new KeptCounts()): EventWriter {
  const { recent } = notifier
  let scheduler = noScheduler
  const write = async (tx: Transaction, deferred: readonly Deferred[]): Promise<PipelinedStatements> => {
    let last = pipelined()
    for (const [projectId, { events, runs }] of byProject(deferred)) {
      await last.answered
      last =
        events.length > 0
          ? await writeProject(tx, projectId, events, runs)
          : await endRuns(tx, runs, { recent, head: await lockLog(tx, projectId) }, scheduler)
    }
    return last
  }
  // The first statement locks the log. The statements that need one answer are sent together after it, so that the log stays
  // locked for as few round trips as possible.
  const writeProject = async (
    tx: Transaction,
    projectId: string,
    events: readonly NewEvent[],
    runs: readonly DeferredEnd[],
  ): Promise<PipelinedStatements> => {
    const byAudience = indexByAudience(events)
    const [numbered, candidates] = await Promise.all([
      numberEvents(tx, projectId, events),
      findCandidates(tx, projectId, events, byAudience),
    ])
    const head = numbered[0]!.logId - 1
    tx.onCommit(() => notifier.publish(numbered, events))
    const writing = pipelined(writeEvents(tx, numbered, events))
    const decided = await decideWakes(tx, numbered, byAudience, candidates)
    const scheduling = await scheduleWakes(tx, decided, scheduler, kept)
    // After the events: it may read them back.
    const ending = await endRuns(tx, runs, { recent, head, appended: { events: numbered, byAudience } }, scheduler)
    return pipelined(writing.answered, scheduling.answered, ending.answered)
  }
  return {
    append: async (tx, projectId, events) => {
      if (events.length > 0) tx.beforeCommit(write, { projectId, events })
    },
    endRuns: (tx, runs) => {
      // Each try of a transaction has ends of its own: those of a try that is rolled back are never read.
      const ends: RunEnds = new Map()
      for (const run of runs) tx.beforeCommit(write, { ends, ...run })
      return ends
    },
    connect(connected) {
      scheduler = connected
    },
  }
}

interface DeferredOfProject {
  readonly events: NewEvent[]
  readonly runs: DeferredEnd[]
}

/** Groups by project, sorted by id: two transactions that write to the same projects lock their logs in the same order. */
function byProject(deferred: readonly Deferred[]): [string, DeferredOfProject][] {
  const projects = new Map<string, DeferredOfProject>()
  for (const one of deferred) {
    const projectId = 'events' in one ? one.projectId : one.subscription.projectId
    const known = projects.get(projectId) ?? { events: [], runs: [] }
    projects.set(projectId, known)
    if ('events' in one) known.events.push(...one.events)
    else known.runs.push(one)
  }
  return [...projects].sort(([a], [b]) => (a < b ? -1 : 1))
}
