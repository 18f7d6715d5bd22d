import { createHash } from 'node:crypto'
import type { History } from './history.ts'
import type { Played } from './world.ts'

/** The hash of all that happened: equal histories have equal ones, in every process. */
export const hashOf = ({ trace }: Pick<Played, 'trace'>): string =>
  createHash('sha256').update(trace.join('\n')).digest('hex')

/** A history to read: what kind of world, what happened at which second, and how it ended. */
export function storyOf({ seed, mix, acts }: History, played: Played): string {
  const lines = played.trace.map((line) => {
    const [at = '', ...words] = line.split(' ')
    return `${(Number(at) / 1_000).toFixed(3).padStart(10)}  ${words.join(' ')}`
  })
  const end = played.failure ? `${played.failure.stack}` : 'It holds.'
  return [`Seed ${seed}, ${acts.length} acts. ${JSON.stringify(mix)}`, ...lines, end, `Trace ${hashOf(played)}`].join(
    '\n',
  )
}
