import type { Pipelined } from './database.ts'

/** Says that all has been asked. Whoever closes the transaction waits for the answers, and hears of one that is an error. */
export function pipelined(...answers: readonly Promise<unknown>[]): Pipelined {
  const answered = Promise.all(answers)
  answered.catch(() => {})
  return { answered }
}
