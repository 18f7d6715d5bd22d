import type { Asked } from './database.ts'

/** Says that all has been asked. Whoever closes the transaction waits for the answers, and hears of one that is an error. */
export function asked(...answers: readonly Promise<unknown>[]): Asked {
  const answered = Promise.all(answers)
  answered.catch(() => {})
  return { answered }
}
