import { randomBytes } from 'node:crypto'

/** What a proxy may call a request. Anything else could be made to look like another line of the log. */
const foreignId = /^[\w.:-]{1,64}$/

/** Names requests: by the id that a proxy gave, else by one of its own that no other process gives. */
export function newRequestIds(): (given: string | readonly string[] | undefined) => string {
  const process = randomBytes(5).toString('hex')
  let count = 0
  return (given) =>
    typeof given === 'string' && foreignId.test(given) ? given : `${process}-${(++count).toString(36)}`
}
