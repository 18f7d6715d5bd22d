import { besideStore } from '../support/store.ts'

/** The counters of a store that are not zero: each as its key and its number. */
export async function counters(dataDir: string): Promise<Map<string, number>> {
  const rows = await besideStore(dataDir, 'select * from task_count where total <> 0')
  return sorted(
    rows.map((row) => [keyOf(row, ['agent_id', 'assignee_id', 'originator_id']), Number(row.total)] as const),
  )
}

/** The counters as they should be: counted from the tasks themselves. */
export async function countersOfTasks(dataDir: string): Promise<Map<string, number>> {
  const totals = new Map<string, number>()
  for (const row of await besideStore(dataDir, 'select * from task')) {
    for (const parties of [[], ['agent_id'], ['assignee_id'], ['originator_id'], ['agent_id', 'originator_id']]) {
      const key = keyOf(row, parties)
      totals.set(key, (totals.get(key) ?? 0) + 1)
    }
  }
  return sorted([...totals])
}

function keyOf(row: Record<string, unknown>, parties: readonly string[]): string {
  const columns = ['agent_id', 'assignee_id', 'originator_id'].map((name) => (parties.includes(name) ? row[name] : ''))
  return [...columns, row.project_id, row.state].join(' ')
}

const sorted = (entries: (readonly [string, number])[]): Map<string, number> =>
  new Map(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
