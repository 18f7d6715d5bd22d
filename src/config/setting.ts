import type { Kind } from './kinds.ts'

/** One setting: a variable of the environment, and a value of the configuration. */
export interface Setting<Value> {
  readonly name: `ROUSE_${string}`
  readonly kind: Kind<Value>
  /** The value where the variable is not set. */
  readonly fallback: Value
  /** The default for people, in Markdown. */
  readonly shown: string
  /** Its line in docs/configuration.md and the help of its flag, in Markdown. */
  readonly what: string
  /** The value of its flag of `rouse serve`: `<port>`. Undefined: it has no flag, because other users can read a command line. */
  readonly flag?: string
  /** The variable with `_FILE` may name a file in its place. */
  readonly isSecret?: true
}

type About = Pick<Setting<unknown>, 'what' | 'flag' | 'isSecret'> & { readonly shown?: string }

/** Makes a setting. `standard`: the default as a person writes it. Undefined: there is none. */
export function setting<Value, const Standard extends string | number | undefined>(
  name: Setting<unknown>['name'],
  kind: Kind<Value>,
  standard: Standard,
  about: About,
): Setting<Standard extends undefined ? Value | undefined : Value> {
  type Own = Standard extends undefined ? Value | undefined : Value
  const fallback = (standard === undefined ? undefined : kind.parse(String(standard))) as Own
  return {
    name,
    kind: kind as Kind<Own>,
    fallback,
    shown: standard === undefined ? 'none' : `\`${standard}\``,
    ...about,
  }
}

/** Settings in groups. */
type Rows = { readonly [Key in string]: Setting<unknown> | Rows }

/** The values of settings, in the same groups. */
export type ValuesOf<Of> = {
  readonly [Key in keyof Of]: Of[Key] extends Setting<infer Value> ? Value : ValuesOf<Of[Key]>
}

/** Reads the value of each setting. */
export function valuesOf<Of extends Rows>(rows: Of, read: (setting: Setting<unknown>) => unknown): ValuesOf<Of> {
  const readRow = (row: Setting<unknown> | Rows) => (isSetting(row) ? read(row) : valuesOf(row, read))
  return Object.fromEntries(Object.entries(rows).map(([key, row]) => [key, readRow(row)])) as ValuesOf<Of>
}

/** Returns the settings of all groups in their order. */
export function listed(rows: Rows): Setting<unknown>[] {
  return Object.values(rows).flatMap((row) => (isSetting(row) ? [row] : listed(row)))
}

function isSetting(row: Setting<unknown> | Rows): row is Setting<unknown> {
  return typeof row.name === 'string'
}
