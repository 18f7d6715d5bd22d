import type { SqlValue } from './statement.ts'

/** A table as the schema of a store has it. */
export interface Table {
  readonly name: string
  readonly columns: readonly string[]
}

/** The values of one row, in the order of the table's columns. */
export type TableRow = readonly SqlValue[]

/** The table in which each engine keeps its own migrations: the one that is not copied. */
export const migrationTable = 'schema_migration'

/** How far a project's log has come, by its counter and by its newest event. The same text for every engine. */
export const logHeadsSql = `select id as "projectId", log_head as "logHead",
    (select max(log_id) from event where project_id = project.id) as "newestLogId"
  from project order by id`

export interface LogHead {
  readonly projectId: string
  readonly logHead: number
  readonly newestLogId: number | null
}
