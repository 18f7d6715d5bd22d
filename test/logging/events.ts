import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const src = resolve(import.meta.dirname, '../../src')
const call = /\blog(?:\.(debug|info|warn|error)|\[level\])\(/gi

/** Every event that the code logs, with its levels, read from the calls themselves. `as it comes`: the call computes the level. */
export function loggedEvents(): Map<string, Set<string>> {
  const events = new Map<string, Set<string>>()
  const add = (event: string, level: string) => events.set(event, (events.get(event) ?? new Set()).add(level))
  for (const file of readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))) {
    const text = readFileSync(join(src, file), 'utf8')
    for (const match of text.matchAll(call)) {
      const named = namesIn(lastArgument(text, match.index + match[0].length))
      for (const name of named) add(name, match[1] ?? 'as it comes')
    }
    // The handler of uncaught faults writes its line itself: nothing else can be trusted by then. So does the output that drops lines.
    for (const [, level = '', name = ''] of text.matchAll(/level: '(fatal|warn)'.*?msg: '([a-z_.]+)'/g))
      add(name, level)
  }
  return events
}

function namesIn(text: string): string[] {
  return [...text.matchAll(/'([a-z0-9_]+\.[a-z_]+)'/g)].map(([, name]) => name!)
}

/** The text of the last argument of a call whose parenthesis opens before `start`. */
function lastArgument(text: string, start: number): string {
  let depth = 1
  let from = start
  let at = start
  for (; depth > 0 && at < text.length; at++) {
    const character = text[at]!
    if ('([{'.includes(character)) depth++
    else if (')]}'.includes(character)) depth--
    else if (character === ',' && depth === 1 && /\S/.test(text.slice(at + 1, text.indexOf(')', at)))) from = at + 1
  }
  return text.slice(from, at - 1)
}
