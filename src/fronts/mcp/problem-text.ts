import type { JsonObject } from '../../lib/json.ts'
import { readable } from './readable.ts'
import { shownJson } from './shown-text.ts'

/** Members of a problem that its first lines tell, or that are for programs. */
const told = new Set(['type', 'title', 'status', 'detail', 'instance', 'code', 'field', 'pendingSignals'])

/** A refusal for a model: the title with its code, what is wrong and how to put it right, and what else the problem says. Pure. */
export function problemText(problem: JsonObject): string {
  const { title, code, detail, field } = shownJson(problem)
  const lines = [`${title ?? 'The gateway refused the call'}${code === undefined ? '' : ` (${code})`}.`]
  if (detail !== undefined && detail !== title) lines.push(inToolWords(String(detail)))
  if (typeof field === 'string' && !String(detail).startsWith(field)) lines.push(`Argument: ${field}`)
  const more = Object.entries(problem).filter(([name]) => !told.has(name))
  if (more.length > 0) lines.push(readable(shownJson(Object.fromEntries(more))))
  return lines.join('\n')
}

/** A sentence for clients of the HTTP API in the words of the tools. Pure. */
export function inToolWords(detail: string): string {
  let text = detail
  for (const [pattern, instead] of sentences) text = text.replace(pattern, instead)
  return text
}

/** Sentences for clients of the HTTP API, and what somebody with tools does instead. In this order. */
const sentences: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/^Send the header `Authorization: Bearer rk_…`.*/, 'The gateway needs a key: ask your user to configure one.'],
]
