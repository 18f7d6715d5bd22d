import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'

/** Asks a person before something is removed. Errors: `UsageError` where the answer is not yes, or nobody is at a terminal to give one. */
export async function requireConsent(io: Io, question: string, otherwise: string): Promise<void> {
  if (!io.ask) throw new UsageError(`${question} Nobody is at a terminal to answer. ${otherwise} --yes says yes.`)
  if (!/^y(es)?$/i.test((await io.ask(`${question} [y/N] `)).trim())) throw new UsageError(otherwise)
}
