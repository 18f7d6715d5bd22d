import { problems, toProblem } from '../../errors.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { problemBody } from '../problem-body.ts'
import { GatewayUnreachable } from './call-api.ts'
import { problemSentences } from './problem-sentences.ts'
import { readable } from './readable.ts'
import { Refused } from './refused.ts'
import { shownJson } from './shown-json.ts'

/** Members of a problem that its first lines show, or that are for programs. */
const shown = new Set(['type', 'title', 'status', 'detail', 'instance', 'code', 'field', 'pendingSignals'])

/** The most that a refusal says. */
const room = { textBytes: 4_000, bytes: 16_000 }

/** A connection that was never made has carried nothing. */
function outcomeOf({ message }: GatewayUnreachable): string {
  const isUnsent = /\b(ECONNREFUSED|ENOTFOUND)\b/.test(message)
  return isUnsent ? 'The call was not carried out.' : 'Whether the call was carried out is not known.'
}

/** What went wrong, for a model: what it is and what to do instead. */
export function failureText(error: unknown): string {
  if (error instanceof Refused) return problemText(error.problem)
  if (error instanceof GatewayUnreachable)
    return `${error.message} ${outcomeOf(error)} Your mail and tasks are kept there. Tell your user, and try again later.`
  return problemText({ ...problemBody(toProblem(error), '') })
}

/** Returns a refusal as text for a model: title, code, detail with the remedy, and the other fields of the problem. Pure. */
function problemText(problem: JsonObject): string {
  const { value } = shownJson(isJsonObject(problem.error) ? ofA2a(problem.error) : problem, room)
  const { title, code, detail, field } = value
  const lines = [`${title ?? 'The gateway refused the call'}${code === undefined ? '' : ` (${code})`}.`]
  if (detail !== undefined && detail !== title) lines.push(inToolWords(String(detail)))
  if (typeof field === 'string' && !String(detail).startsWith(field)) lines.push(`Argument: ${field}`)
  const more = Object.entries(value).filter(([name]) => !shown.has(name))
  if (more.length > 0) lines.push(readable(Object.fromEntries(more)))
  return lines.join('\n')
}

/** The error of A2A over HTTP+JSON (a google.rpc.Status) as a problem. */
function ofA2a({ message, details }: JsonObject): JsonObject {
  const [info] = Array.isArray(details) ? details : []
  const { reason, metadata } = isJsonObject(info) ? info : {}
  const { code = codeOf(reason), ...more } = isJsonObject(metadata) ? metadata : {}
  const title = Object.entries(problems).find(([known]) => known === code)?.[1].title
  return { title: title ?? 'The agent cannot take that', code, detail: message, ...more }
}

/** `AGENT_NOT_FOUND` as `agent-not-found`. */
function codeOf(reason: unknown): string | undefined {
  return typeof reason === 'string' ? reason.toLowerCase().replaceAll('_', '-') : undefined
}

/** A sentence for clients of the HTTP API in the words of the tools. Pure. */
function inToolWords(detail: string): string {
  let text = detail
  for (const [pattern, instead] of problemSentences) text = text.replace(pattern, instead)
  return text
}
