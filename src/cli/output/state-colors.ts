import type { Io } from '../../client/io.ts'
import { paint } from '../../client/terminal-text.ts'

/** Red is broken, yellow waits for someone, green is well. All other states have no colour. */
const colors = {
  red: ['failed', 'rejected', 'degraded', 'refused', 'misaddressed', 'down', 'tripped'],
  yellow: ['input-required', 'auth-required', 'retrying', 'paused', 'parked', 'stale', 'waitingOnApproval'],
  green: ['completed', 'active', 'ready', 'delivered', 'proven'],
} as const

/** The worst word decides: `active, retrying since …` is not well. */
const worstFirst = ['red', 'yellow', 'green'] as const

/** Words of others stand in the other columns: they get no colour. */
const stateColumns: ReadonlySet<string> = new Set(['STATE', 'STATUS', 'WAKES', 'OUTCOME', 'DOING'])

export const isStateColumn = (heading: string): boolean => stateColumns.has(heading)

/** A state in its colour: `degraded (http-404)` is one too. */
export function paintState(io: Pick<Io, 'color'>, text: string): string {
  const words = text.match(/[\w-]+/g) ?? []
  const color = worstFirst.find((one) => words.some((word) => (colors[one] as readonly string[]).includes(word)))
  return color === undefined ? text : paint(io, color, text)
}

/** True when standard output gets colours: a terminal does, unless the user asks for none; a pipe does only if the user asks for it. Pure. */
export function wantsColor({ NO_COLOR, FORCE_COLOR, TERM }: Io['env'], isTerminal: boolean): boolean {
  if (NO_COLOR) return false
  if (FORCE_COLOR) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return isTerminal && TERM !== 'dumb'
}
