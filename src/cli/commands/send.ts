import { createHash, randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { exitCodes, Refused, Reported, UsageError } from '../../client/failure.ts'
import { agentPath, bareHandle, type GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import type { Printer } from '../../client/printer.ts'
import { problemOfRpc } from '../../client/rpc-problem.ts'
import { plain } from '../../client/terminal-text.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { nearestNames } from '../../lib/nearest-names.ts'
import type { Priority, WakePolicy } from '../../words/policies.ts'
import { ownIds } from '../ids/own-ids.ts'
import { collect, priority, wakePolicy } from '../options/option-values.ts'
import { requireText } from '../options/text-input.ts'
import { fields } from '../output/table.ts'
import { artifactText, howToAnswer, messageText } from '../output/task-view.ts'
import { clientCommand, connect } from '../run/client-command.ts'
import { asksIn, exitCodeFor, settled, taskIn } from '../run/sent-task.ts'

const suggestionsMax = 3

interface SendOptions {
  file?: string
  task?: string
  idempotencyKey?: string
  wait?: true
  priority?: Priority
  wakePolicy?: WakePolicy
  concept?: string[]
}

export function registerSend(parent: Command, io: Io): void {
  clientCommand(
    parent,
    'send [agent] [text...]',
    'send an agent a message over A2A, for a new task or an existing one',
    [
      'rouse send @donna "Please review PR 7"',
      'rouse send @donna "Please review PR 7" --wait   # wait for the answer; the exit code says how it ended',
      'rouse send --task 0b6f… "And the tests too"    # add to a task',
      'git diff | rouse send @donna -                  # the text from standard input',
    ],
  )
    .option('--file <file>', 'the text from a file; - is standard input')
    .option('--task <id>', 'add to this task; its agent need not be named')
    .option('--wait', 'wait until the task is finished (exit code 0, or 4 without success) or asks something (5)')
    .option('--priority <priority>', 'high, normal or low', priority)
    .option('--wake-policy <policy>', "immediate, next_turn or silent (default: the recipient's setting)", wakePolicy)
    .option('--concept <concept>', 'a tagged concept, by which its mail is found and filtered; repeatable', collect)
    .option('--idempotency-key <key>', 'a repeat with the same key makes no second task')
    .action(async (agent: string | undefined, rest: string[], options: SendOptions, command: Command) => {
      const { gateway, print } = connect(io, command)
      const taskId = options.task && (await ownIds(gateway).task(options.task))
      const { handle, path, words } = await recipientOf(gateway, { agent, rest, taskId, file: options.file })
      const text = requireText(io, { words, file: options.file })
      await deliver({ gateway, print, signal: io.signal }, { handle, path, taskId, text, options })
    })
}

interface Connection {
  readonly gateway: GatewayClient
  readonly print: Printer
  readonly signal: AbortSignal | undefined
}

interface Delivery {
  readonly handle: string
  /** The A2A address of the agent. */
  readonly path: string
  readonly taskId: string | undefined
  readonly text: string
  readonly options: Omit<SendOptions, 'file' | 'task'>
}

/** Sends a message over A2A and prints the result; with `wait`, the exit code says how the task ended. */
export async function deliver({ gateway, print, signal }: Connection, delivery: Delivery): Promise<void> {
  const { handle, path, taskId, text, options } = delivery
  const key = options.idempotencyKey
  const call = async (method: string, params: object, timeoutMs?: number) => {
    const headers = { 'a2a-version': '1.0', ...(key === undefined ? {} : { 'idempotency-key': key }) }
    return resultOf(
      await gateway.request('POST', path, { headers, timeoutMs, body: { jsonrpc: '2.0', id: 1, method, params } }),
    )
  }
  const message = {
    messageId: messageIdFor(handle, key),
    role: 'ROLE_USER',
    taskId,
    parts: [{ text }],
    ...metadataOf(options),
  }
  const params = { message, configuration: { returnImmediately: !options.wait } }
  const sent = await suggestingAgents(gateway, handle, () => call('SendMessage', params, options.wait ? 0 : undefined))
  if (!options.wait) return print.result(sent, () => sendResultText(sent, false))
  const result = await settled(sent, (id) => call('GetTask', { id }), { signal, note: print.note })
  print.result(result, () => sendResultText(result, true))
  const exitCode = exitCodeFor(result)
  if (exitCode !== exitCodes.ok) throw new Reported(exitCode)
}

interface SendArguments {
  readonly agent: string | undefined
  readonly rest: readonly string[]
  readonly taskId: string | undefined
  readonly file: string | undefined
}

/** Whom a message goes to, and its words: a task knows its agent, and then the first word may be text. Errors: no agent and no task. */
async function recipientOf(gateway: GatewayClient, { agent, rest, taskId, file }: SendArguments) {
  const to = (name: string, words: readonly string[]) => ({ ...addressOf(gateway, name), words })
  const hasText = rest.length > 0 || file !== undefined
  if (agent !== undefined && (taskId === undefined || (agent.startsWith('@') && hasText))) return to(agent, rest)
  if (taskId === undefined) {
    throw new UsageError(
      'Name the agent: rouse send @donna "…". Or the task that you add to: rouse send --task <id> "…".',
    )
  }
  const task = await gateway.call('GET /v1/tasks/:id', { params: { id: taskId } })
  const isAgent = agent !== undefined && hasText && bareHandle(agent) === bareHandle(task.agent)
  return to(task.agent, agent === undefined || isAgent ? rest : [agent, ...rest])
}

/** The A2A address of an agent: `@donna`, or `web:donna` of another project. */
export function addressOf(gateway: GatewayClient, name: string): { handle: string; path: string } {
  const [project, handle] = name.includes(':') ? name.split(':') : [gateway.project, name]
  const bare = bareHandle(handle!)
  return { handle: bare, path: agentPath({ project }, bare) }
}

/** The gateway reads these from the metadata of an A2A message. */
function metadataOf({ priority, wakePolicy, concept: taggedConcepts }: Delivery['options']): { metadata?: object } {
  const metadata = { priority, wakePolicy, taggedConcepts }
  return Object.values(metadata).every((value) => value === undefined) ? {} : { metadata }
}

/** The same key makes the same message id, so that the gateway sees one request twice. */
function messageIdFor(handle: string, key: string | undefined): string {
  if (key === undefined) return randomUUID()
  const hex = createHash('sha256').update(`${handle.toLowerCase()}\n${key}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

function resultOf(answer: JsonObject): JsonObject {
  if (isJsonObject(answer.error)) throw new Refused(problemOfRpc(answer.error))
  if (isJsonObject(answer.result)) return answer.result
  throw new Refused({ title: 'The answer is not a JSON-RPC result', detail: JSON.stringify(answer).slice(0, 200) })
}

/** Runs a call over A2A, whose refusal of an unknown agent names no other agents, and adds the nearest names to that refusal. */
async function suggestingAgents<Answer>(
  gateway: GatewayClient,
  handle: string,
  work: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refused) || error.problem.code !== 'agent-not-found') throw error
    const candidates = await nearestAgents(gateway, handle)
    const hint = candidates.length > 0 ? `Did you mean ${candidates.join(' or ')}?` : '`rouse who` lists the agents.'
    throw new Refused({ ...error.problem, candidates, hint }, error.keyUse)
  }
}

/** The agents on the first page of the list. Where the key may not read it there are none. */
async function nearestAgents(gateway: GatewayClient, handle: string): Promise<string[]> {
  try {
    const { agents } = await gateway.call('GET /v1/agents')
    const names = agents.flatMap(({ handle, aliases }) => [handle, ...aliases])
    return nearestNames(handle, names, suggestionsMax)
  } catch (error) {
    if (error instanceof Refused) return []
    throw error
  }
}

/**
 * The result of A2A's `SendMessage` (specification §3.1.1): a task, or a message.
 * @param waited the task is finished or asks for something: its answer is shown too
 */
function sendResultText(result: JsonObject, waited: boolean): string {
  const task = taskIn(result)
  if (!task) {
    const message = isJsonObject(result.message) ? result.message : result
    return `${fields({ state: 'answered' })}${messageText(message)}`
  }
  const status = isJsonObject(task.status) ? task.status : {}
  const head = { task: task.id, state: stateText(status.state) }
  if (!waited) return `${fields(head)}Follow it: rouse task show ${plain(task.id)}\n`
  const artifacts = Array.isArray(task.artifacts) ? task.artifacts.filter(isJsonObject) : []
  const message = isJsonObject(status.message) ? messageText(status.message) : ''
  return (
    fields({ ...head, context: task.contextId, changed: status.timestamp }) +
    message +
    artifacts.map(artifactText).join('') +
    (asksIn(result) ? howToAnswer(task.id) : '')
  )
}

/** `input-required` for `TASK_STATE_INPUT_REQUIRED`. */
function stateText(state: unknown): string {
  return String(state ?? 'unknown')
    .replace(/^TASK_STATE_/, '')
    .toLowerCase()
    .replaceAll('_', '-')
}
