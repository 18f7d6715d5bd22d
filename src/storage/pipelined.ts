import type { PipelinedStatements } from './database.ts'

/** Collects statements that were sent. The end of the transaction waits for their answers and throws the first error. */
export function pipelined(...answers: readonly Promise<unknown>[]): PipelinedStatements {
  const answered = Promise.all(answers)
  answered.catch(() => {})
  return { answered }
}
