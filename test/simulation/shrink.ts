import type { History } from './history.ts'
import { type Played, Violation, World } from './world.ts'

export const ruleOf = ({ failure }: Played): string | undefined =>
  failure && (failure instanceof Violation ? failure.rule : String(failure.message).slice(0, 40))

/** Leaves out of a history what its failure does not need. */
export async function shrink(history: History, rule: string, triesMax = 400): Promise<History> {
  let shortest = history
  let tries = 0
  const fails = async (acts: History['acts']): Promise<boolean> => {
    if (++tries > triesMax) return false
    const shorter = { ...shortest, acts }
    if (ruleOf(await World.play(shorter)) !== rule) return false
    shortest = shorter
    return true
  }
  for (let size = Math.ceil(history.acts.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < shortest.acts.length; ) {
      const rest = shortest.acts.filter((_, index) => index < at || index >= at + size)
      if (!(await fails(rest))) at += size
    }
  }
  for (const at of shortest.acts.keys()) {
    if (shortest.acts[at]!.after > 0) await fails(shortest.acts.with(at, { ...shortest.acts[at]!, after: 0 }))
  }
  return shortest
}
