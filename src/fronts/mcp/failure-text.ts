import { problems, toProblem } from '../../errors.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { problemBody } from '../problem-body.ts'
import { GatewayUnreachable } from './call-api.ts'
import { readable } from './readable.ts'
import { Refused } from './refused.ts'
import { shownJson } from './shown-json.ts'

const askOperator = 'Ask your user: the operator of the gateway may raise it.'

/** Sentences for clients of the HTTP API and for a terminal, and what somebody with tools does instead. In this order. */
const problemSentences: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/^Send the header `Authorization: Bearer rk_…`.*/, 'The gateway needs a key. Ask your user to set one.'],
  [/An operator can make a new one with `rouse agent key add[^`]*`\./, 'Ask your user for a new one.'],
  [/or ask for one: POST \/v1\/agents\/\{handle\}\/keys\./, 'or ask your user for one.'],
  [
    /If it is private, send a key of its project: Authorization: Bearer rk_…/,
    'The tool who lists the agents that you can reach.',
  ],
  [/`rouse (?:agent list|who)` lists the agents\./, 'The tool who lists the agents.'],
  [/`rouse sub list` lists your subscriptions\./, 'The action list shows your subscriptions.'],
  [/can grant (?:you CAN_REPLY_TO|it) with `rouse permission add`/, 'can grant you CAN_REPLY_TO with the tool grant'],
  [/List your tasks to find it\./, 'list_tasks shows your tasks.'],
  [/Send the threadId of a message\./, 'read_inbox shows the threads of your mail.'],
  [/`GET \/v1\/tasks`/g, 'list_tasks'],
  [
    /Start one: POST \/v1\/sessions[^.]*\./,
    'The program that connects you starts one: ask your user to start you again.',
  ],
  [/GET \/v1\/sessions lists your sessions\./, 'whoami says who you are.'],
  [
    /Make it active first: PATCH \{"status":"active"\}/,
    'Make it active first: manage_wake_subscription with the action update and the status active',
  ],
  [/Open GET \/v1\/wake-stream, or run `rouse listen`\./, 'Ask your user to run rouse listen.'],
  [/The operator may raise \w+ for the project: PATCH \/v1\/projects\/\{project\}\./, askOperator],
  [/The operator may raise it for the project: PATCH \/v1\/projects\/\{project\}\./, askOperator],
  [/the operator may raise \w+ for the project: PATCH \/v1\/projects\/\{project\}\./, askOperator],
  [
    /[Ss]end the `nextPageToken` of the previous page(?:, unchanged)?/,
    'Give nextPageToken of the page before as pageToken, unchanged',
  ],
  [
    /Send with returnImmediately: true, and follow the task; read[^.]*\./,
    'Leave wait out, and wait for messages once at a time.',
  ],
  [
    /Send a new message with contextId (\S+) and referenceTaskIds \[([^\]]*)\]\./,
    'Send a new task with contextId $1 and referenceTaskIds [$2], without taskId.',
  ],
  [/, in the body or as If-Match: "<version>"/, ''],
  [/Read `current`, and decide again\./, 'The current task follows: read it, and decide again.'],
  [/\b([Ll])eave the field out\b/g, '$1eave it out'],
  [/\bToo big: expected string to have <=(\d+) characters\b/, 'is too long: at most $1 characters'],
  [/message\.(taskId|contextId|referenceTaskIds)\b/g, '$1'],
  [/message\.parts\[0\]\.text\b/g, 'text'],
]

/** Members of a problem that its first lines show, or that are for programs. */
const shown = new Set(['type', 'title', 'status', 'detail', 'instance', 'code', 'field', 'pendingSignals'])

/** The most that a refusal says. */
const room = { textBytes: 4_000, bytes: 16_000 }

/** A connection that was never made has carried nothing. */
function outcomeOf({ message }: GatewayUnreachable): string {
  const isUnsent = /\b(ECONNREFUSED|ENOTFOUND)\b/.test(message)
  return isUnsent ? 'The call was not carried out.' : 'Whether the call was carried out is not known.'
}

type Sentences = typeof problemSentences

/** The text of a failure for a model: what went wrong, and what to do instead. `words`: sentences that come before those for agents. */
export function failureText(error: unknown, words: Sentences = []): string {
  if (error instanceof Refused) return problemText(error.problem, words)
  if (error instanceof GatewayUnreachable)
    return `${error.message} ${outcomeOf(error)} Your mail and tasks are kept there. Tell your user, and try again later.`
  return problemText({ ...problemBody(toProblem(error), '') }, words)
}

/** Returns a refusal as text for a model: title, code, detail with the remedy, and the other fields of the problem. Pure. */
function problemText(problem: JsonObject, words: Sentences): string {
  const { value } = shownJson(isJsonObject(problem.error) ? ofA2a(problem.error) : problem, room)
  const { title, code, detail, field } = value
  const lines = [`${title ?? 'The gateway refused the call'}${code === undefined ? '' : ` (${code})`}.`]
  if (detail !== undefined && detail !== title) lines.push(inToolWords(String(detail), words))
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
function inToolWords(detail: string, words: Sentences): string {
  let text = detail
  for (const [pattern, instead] of [...words, ...problemSentences]) text = text.replace(pattern, instead)
  return text
}
