import { UsageError } from '../client/failure.ts'
import { closestWord } from '../lib/closest-word.ts'
import type { Harness, HarnessId } from './harness.ts'
import { harnessTable } from './table.ts'

/** The harness of a name. Errors: one that is not known. */
export function oneHarness(name: string, known: readonly HarnessId[]): Harness {
  const id = known.find((one) => one === name.toLowerCase())
  if (id) return harnessTable[id]
  const near = closestWord(name, [...known])
  throw new UsageError(
    `There is no harness "${name}".${near ? ` Did you mean ${near}?` : ''} There are: ${known.join(', ')}.`,
  )
}
