import type { SqlValue } from './statement.ts'

/** A table of a store's schema. */
export interface Table {
  readonly name: string
  readonly columns: readonly string[]
}

/** The values of one row, in the order of the table's columns. */
export type TableRow = readonly SqlValue[]

/** The table of each engine's own migrations. It is not copied. */
export const migrationTable = 'schema_migration'

/** The head of each project's log, by its counter and by its newest event. The same SQL for every engine. */
export const logHeadsSql = `select id as "projectId", log_head as "logHead",
    (select max(log_id) from event where project_id = project.id) as "newestLogId"
  from project order by id`

export interface LogHead {
  readonly projectId: string
  readonly logHead: number
  readonly newestLogId: number | null
}
