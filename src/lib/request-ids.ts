import { randomBytes } from 'node:crypto'

/** The ids that a proxy may give a request. Anything else could be made to look like another line of the log. */
const foreignId = /^[\w.:-]{1,64}$/

/** Returns the id of a request: the one that a proxy gave, otherwise a new one that no other process gives. */
export function newRequestIds(): (given: string | readonly string[] | undefined) => string {
  const process = randomBytes(5).toString('hex')
  let count = 0
  return (given) =>
    typeof given === 'string' && foreignId.test(given) ? given : `${process}-${(++count).toString(36)}`
}
