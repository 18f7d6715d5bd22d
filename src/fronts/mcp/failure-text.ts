import { detailFor, problems, toProblem } from '../../errors.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { problemBody } from '../problem-body.ts'
import { GatewayUnreachable } from './call-api.ts'
import { readable } from './readable.ts'
import { Refused } from './refused.ts'
import { shownJson } from './shown-json.ts'

/** Fields of A2A, and the arguments of tools that fill them. */
const argumentsOf: ReadonlyMap<unknown, string> = new Map([
  ['message.taskId', 'taskId'],
  ['message.contextId', 'contextId'],
  ['message.referenceTaskIds', 'referenceTaskIds'],
  ['message.parts[0].text', 'text'],
])

/** Members of a problem that its first lines show, or that are for programs. */
const shown = new Set(['type', 'title', 'status', 'detail', 'instance', 'code', 'field', 'remedy', 'pendingSignals'])

/** The most that a refusal says. */
const room = { textBytes: 4_000, bytes: 16_000 }

/** A connection that was never made has carried nothing. */
function outcomeOf({ message }: GatewayUnreachable): string {
  const isUnsent = /\b(ECONNREFUSED|ENOTFOUND)\b/.test(message)
  return isUnsent ? 'The call was not carried out.' : 'Whether the call was carried out is not known.'
}

/** The tools that a failure names: those of agents or those of operators. */
export type ToolLanguage = 'agent' | 'operator'

/** The text of a failure for a model: what went wrong, and what to do instead. */
export function failureText(error: unknown, language: ToolLanguage = 'agent'): string {
  if (error instanceof Refused) return problemText(error.problem, language)
  if (error instanceof GatewayUnreachable)
    return `${error.message} ${outcomeOf(error)} Your mail and tasks are kept there. Tell your user, and try again later.`
  return problemText({ ...problemBody(toProblem(error), '') }, language)
}

/** Returns a refusal as text for a model: title, code, detail with the remedy, and the other fields of the problem. Pure. */
function problemText(problem: JsonObject, language: ToolLanguage): string {
  const given = isJsonObject(problem.error) ? ofA2a(problem.error) : problem
  const { value } = shownJson({ ...given, detail: inToolWords(given, language) }, room)
  const { title, code, detail, field } = value
  const lines = [`${title ?? 'The gateway refused the call'}${code === undefined ? '' : ` (${code})`}.`]
  if (detail !== '' && detail !== title) lines.push(String(detail))
  if (typeof field === 'string' && !String(detail).startsWith(argumentsOf.get(field) ?? field))
    lines.push(`Argument: ${field}`)
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

/** The detail of a problem in the words of the tools. Pure. */
function inToolWords(problem: JsonObject, language: ToolLanguage): string {
  const detail = detailFor(problem, ({ tool }) => (typeof tool === 'string' ? tool : tool[language]))
  const argument = argumentsOf.get(problem.field)
  return argument === undefined ? detail : detail.replaceAll(String(problem.field), argument)
}
