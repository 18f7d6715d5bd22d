import { UsageError } from '../client/failure.ts'
import type { Io } from '../client/io.ts'
import { closestWord } from '../lib/nearest-names.ts'
import type { Harness } from './harness.ts'
import * as table from './table.ts'

export const harnesses: readonly Harness[] = Object.values(table)
export const harnessIds: readonly string[] = harnesses.map(({ id }) => id)

/** Returns the harness of a key; undefined when there is none. */
export function harnessOf(id: string): Harness | undefined {
  return harnesses.find((harness) => harness.id === id)
}

/** Returns the harness that the user means. Errors: there is none of this name. */
export function oneHarness(name: string): Harness {
  const found = harnessOf(name.toLowerCase())
  if (found) return found
  const near = closestWord(name, harnessIds)
  throw new UsageError(
    `There is no harness "${name}".${near ? ` Did you mean ${near}?` : ''} There are: ${harnessIds.join(', ')}.`,
  )
}

/** Returns what the harnesses say in a variable, of those that have set it: each value with its harness. Pure. */
export function saidIn(
  env: Io['env'],
  variable: 'mark' | 'pid' | 'directory',
): { readonly harness: Harness; readonly value: string }[] {
  return harnesses.flatMap((harness) => {
    const name = harness.variables?.[variable]
    const value = name === undefined ? undefined : env[name]
    return value ? [{ harness, value }] : []
  })
}
