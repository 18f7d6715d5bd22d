import type { Printer } from '../../client/printer.ts'
import { plain } from '../../client/terminal-text.ts'
import type { Wake } from '../../client/wakes/wake.ts'
import type { Fate } from './wake-work.ts'

/** Tells the user once that a command fails and its wake comes again, and when it is over. */
export function fateNotes(print: Pick<Printer, 'note'>, retryForSeconds: number): (wake: Wake, fate: Fate) => void {
  const failing = new Set<string>()
  const howLong =
    retryForSeconds === 0
      ? 'after 1, 2 and 4 s'
      : `ever more rarely, for up to ${duration(retryForSeconds)} (--retry-for)`
  return ({ eventId }, fate) => {
    const isKnown = failing.has(eventId)
    if (fate === 'again') {
      failing.add(eventId)
      if (!isKnown) print.note(`Wake ${plain(eventId)} comes again: ${howLong}. What comes meanwhile waits.`)
      return
    }
    failing.delete(eventId)
    if (fate === 'given-up')
      print.note(`Wake ${plain(eventId)} is given up. Its mail stays unread: rouse inbox --unread`)
    else if (isKnown) print.note(`Wake ${plain(eventId)}: the command has succeeded now.`)
  }
}

/** `6 hours`, `90 seconds`. Pure. */
function duration(seconds: number): string {
  const [size, name] = seconds % 3_600 === 0 ? [3_600, 'hour'] : seconds % 60 === 0 ? [60, 'minute'] : [1, 'second']
  const count = seconds / size
  return `${count} ${name}${count === 1 ? '' : 's'}`
}
