import type { Reader } from '../../src/storage/database.ts'

/** Counts the statements of a reader, and notes the most entries that one of them may look at. */
export function spyOn(reader: Reader): { reader: Reader; seen: { statements: number; most: number } } {
  const seen = { statements: 0, most: 0 }
  const note = (params: object): void => {
    seen.statements++
    if ('entries' in params) seen.most = Math.max(seen.most, Number(params.entries))
  }
  return {
    seen,
    reader: {
      all: (statement, params) => {
        note(params)
        return reader.all(statement, params)
      },
      get: (statement, params) => {
        note(params)
        return reader.get(statement, params)
      },
    },
  }
}
