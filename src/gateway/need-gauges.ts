import { readOpenGroups } from '../fronts/rest/needs/list.ts'
import type { Clock } from '../lib/clock.ts'
import { type Urgency, urgencies } from '../needs/urgency.ts'
import { operatorOf } from '../registry/callers/caller.ts'
import { listProjects } from '../registry/projects/project-store.ts'
import type { Reader } from '../storage/database.ts'

/** However often it is scraped, what waits for a person is counted once in this time, in ms. */
const freshMs = 15_000

/** The needs of all projects, counted by their urgency. */
type NeedFigures = readonly { readonly urgency: Urgency; readonly count: number; readonly oldestMs: number }[]

/** Makes the counter of what waits for a person, for scrapes: what was put off is not counted, and of an agent and kind 1,000 at most. */
export function createCountNeeds(db: Reader, clock: Clock): () => Promise<NeedFigures> {
  let known: { readonly at: number; readonly figures: Promise<NeedFigures> } | undefined
  return () => {
    const now = clock.now()
    if (!known || now - known.at >= freshMs || now < known.at) {
      const figures = countNeeds(db, now)
      known = { at: now, figures }
      figures.catch(() => {
        known = undefined
      })
    }
    return known.figures
  }
}

async function countNeeds(db: Reader, now: number): Promise<NeedFigures> {
  const figures = new Map(urgencies.map((urgency) => [urgency, { count: 0, oldestMs: 0 }]))
  for (const { id } of await listProjects(db)) {
    for (const { urgency, count, since } of await readOpenGroups({ db, caller: operatorOf(id), now })) {
      const one = figures.get(urgency)!
      one.count += count
      one.oldestMs = Math.max(one.oldestMs, now - Date.parse(since))
    }
  }
  return [...figures].map(([urgency, one]) => ({ urgency, ...one }))
}
