import { Problem } from '../errors.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { Database } from '../storage/database.ts'
import { saveSnooze } from './need-store.ts'
import type { NeedNotice } from './telling.ts'

const dayMs = 86_400_000
/** The longest time that a need can be put off, in ms. */
const snoozeMsMax = 30 * dayMs

/**
 * Puts a need off for all operators of the project until an instant (ms since the epoch), or ends that (null). Nothing else changes: it stays in the
 * list, and operators are notified of what becomes worse. Errors: `invalid-request` for an instant that is past, or more than 30 days ahead; `not-found` for a
 * need that does not wait.
 */
export async function snoozeNeed(
  db: Database,
  { projectId }: Caller,
  need: Pick<NeedNotice, 'kind' | 'agent'> | undefined,
  { need: id, until }: { readonly need: string; readonly until: number | null },
): Promise<void> {
  if (!need) {
    throw new Problem('not-found', {
      field: 'need',
      detail: `need: nothing with the id ${id} waits for a person.`,
      remedy: 'list-needs',
    })
  }
  await db.transaction(async (tx) => {
    if (until !== null && (until <= tx.now || until > tx.now + snoozeMsMax)) {
      throw new Problem('invalid-request', {
        field: 'until',
        detail: 'until: must lie in the future, at most 30 days from now. null ends a snooze.',
      })
    }
    await saveSnooze(tx, projectId, { id, kind: need.kind, agent: need.agent }, until ?? 0)
  })
}
