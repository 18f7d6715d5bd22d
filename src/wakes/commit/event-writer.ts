import type { AppendEvents } from '../../log/append.ts'
import type { NewEvent } from '../../log/event.ts'
import { holdLog, numberEvents, writeEvents } from '../../log/event-store.ts'
import type { LiveTail } from '../../log/log-notifier.ts'
import type { Asked, Transaction } from '../../storage/database.ts'
import { asked } from '../../storage/pipelined.ts'
import { type Ending, giveBack } from './end-runs.ts'
import { concernedBy, findCandidates, type Sending, wake } from './schedule.ts'

/** What writers leave for the end of their transaction: events of one project, or a run that has nothing more to send. */
type Left = { readonly projectId: string; readonly events: readonly NewEvent[] } | Ending

/** The one door to the log for whoever writes. */
export interface Journal {
  readonly append: AppendEvents
  /** Ends a run: for a claim whose subscription has nothing before it any more. */
  giveBack(tx: Transaction, ending: Ending): void
}

/**
 * At the end of a transaction, which is when the log is locked until the commit, the events of all its writers are written, and
 * the subscriptions that they concern are made due, or claimed for sending at once. Runs end there too, while nobody else appends:
 * whoever does so later finds their subscriptions idle, and wakes them.
 */
export function createJournal(tail: LiveTail, sending: Sending): Journal {
  const close = async (tx: Transaction, left: readonly Left[]): Promise<Asked> => {
    let last = asked()
    for (const [projectId, { events, endings }] of byProject(left)) {
      await last.answered
      last =
        events.length > 0
          ? await append(tx, projectId, events, endings)
          : await giveBack(tx, endings, await holdLog(tx, projectId), tail.recent, sending)
    }
    return last
  }
  // The log is locked from the first statement on. What follows from one answer is asked for behind it in one go, so that it
  // is not locked for longer than the store takes.
  const append = async (
    tx: Transaction,
    projectId: string,
    events: readonly NewEvent[],
    endings: readonly Ending[],
  ): Promise<Asked> => {
    const concerned = concernedBy(events)
    const [numbered, candidates] = await Promise.all([
      numberEvents(tx, projectId, events),
      findCandidates(tx, projectId, events, concerned),
    ])
    const head = numbered[0]!.logId - 1
    const fresh = { written: numbered, concerned }
    tx.onCommit(() => tail.publish(numbered, events))
    const writing = asked(writeEvents(tx, numbered, events))
    const [waking, ending] = await Promise.all([
      wake(tx, numbered, concerned, candidates, sending),
      // Behind the events, which it may read back.
      giveBack(tx, endings, head, tail.recent, sending, fresh),
    ])
    return asked(writing.answered, waking.answered, ending.answered)
  }
  return {
    append: async (tx, projectId, events) => {
      if (events.length > 0) tx.atEnd(close, { projectId, events })
    },
    giveBack: (tx, ending) => tx.atEnd(close, ending),
  }
}

interface LeftOfProject {
  readonly events: NewEvent[]
  readonly endings: Ending[]
}

/** In an order of its own, so that two transactions never wait for each other's projects. */
function byProject(left: readonly Left[]): [string, LeftOfProject][] {
  const projects = new Map<string, LeftOfProject>()
  for (const one of left) {
    const projectId = 'events' in one ? one.projectId : one.subscription.projectId
    const known = projects.get(projectId) ?? { events: [], endings: [] }
    projects.set(projectId, known)
    if ('events' in one) known.events.push(...one.events)
    else known.endings.push(one)
  }
  return [...projects].sort(([a], [b]) => (a < b ? -1 : 1))
}
