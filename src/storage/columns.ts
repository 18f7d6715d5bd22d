import type { SqlValue } from './statement.ts'

/** A column: the type of its value in a noun, and the type that the store has. */
export interface Column<Value = unknown, Stored extends SqlValue = SqlValue> {
  /** Default: that of its field, as `project_id` is of `projectId`. */
  readonly name?: string
  readonly form: 'plain' | 'flag' | 'json'
  /** Never set: it carries the types. */
  readonly types?: { readonly value: Value; readonly stored: Stored }
}

/** The columns of a table, by the fields of its noun. */
export type Columns = Readonly<Record<string, Column>>

/** The row of a table, as the store has it. */
export type RowOf<Fields extends Columns> = {
  readonly [Field in keyof Fields]: Fields[Field] extends Column<unknown, infer Stored> ? Stored : never
}

/** The noun of a table: its row, with JSON and flags read. */
export type NounOf<Fields extends Columns> = {
  readonly [Field in keyof Fields]: Fields[Field] extends Column<infer Value> ? Value : never
}

const plain = { form: 'plain' } as const

export const text: Column<string, string> = plain
/** A whole number. Instants are ms since the epoch. */
export const int: Column<number, number> = plain
/** 0 or 1. */
export const flag: Column<boolean, number> = { form: 'flag' }
/** One of some words. */
export const word = <Word extends string>(): Column<Word, Word> => plain
export const json = <Value>(): Column<Value, string> => ({ form: 'json' })
/** A column that may be null. */
export const nullable = <Value, Stored extends SqlValue>(
  column: Column<Value, Stored>,
): Column<Value | null, Stored | null> => column
/** A column whose name is not that of its field. */
export const named = <Value, Stored extends SqlValue>(
  name: string,
  column: Column<Value, Stored>,
): Column<Value, Stored> => ({ ...column, name })
