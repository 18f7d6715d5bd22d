import { createHash, randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { Refused } from '../../client/failure.ts'
import { agentPath, bareHandle } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { problemOfRpc } from '../../client/rpc-problem.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import type { Priority, WakePolicy } from '../../words/policies.ts'
import { clientCommand, connect } from '../client-command.ts'
import { ownIds } from '../ids/own-ids.ts'
import { suggestingAgents } from '../nearest-agents.ts'
import { priority, wakePolicy } from '../option-values.ts'
import { requireText } from '../text-input.ts'
import { sendResultText } from '../views/a2a-view.ts'

interface SendOptions {
  file?: string
  task?: string
  idempotencyKey?: string
  wait?: true
  priority?: Priority
  wakePolicy?: WakePolicy
}

export function registerSend(parent: Command, io: Io): void {
  clientCommand(
    parent,
    'send <agent> [text...]',
    'send an agent a message over A2A, for a new task or an existing one',
    [
      'rouse send @donna "Please review PR 7"',
      'rouse send @donna "Please review PR 7" --wait        # wait for the answer',
      'rouse send @donna "Use the main branch" --task 0b6f…  # answer a question about a task',
      'git diff | rouse send @donna -                        # the text from standard input',
    ],
  )
    .option('--file <file>', 'the text from a file; - is standard input')
    .option('--task <id>', 'add to this task')
    .option('--wait', 'wait until the task is finished or needs input')
    .option('--priority <priority>', 'high, normal or low', priority)
    .option('--wake-policy <policy>', "immediate, next_turn or silent (default: the recipient's setting)", wakePolicy)
    .option('--idempotency-key <key>', 'a repeat with the same key makes no second task')
    .action(async (agent: string, words: string[], options: SendOptions, command: Command) => {
      const text = requireText(io, { words, file: options.file })
      const { gateway, print } = connect(io, command)
      const handle = bareHandle(agent)
      const key = options.idempotencyKey
      const message = {
        messageId: messageIdFor(handle, key),
        role: 'ROLE_USER',
        taskId: options.task && (await ownIds(gateway).task(options.task)),
        parts: [{ text }],
        ...metadataOf(options),
      }
      const params = { message, configuration: { returnImmediately: !options.wait } }
      const answer = await suggestingAgents(gateway, handle, () =>
        gateway.request('POST', agentPath(gateway, handle), {
          headers: { 'a2a-version': '1.0', ...(key === undefined ? {} : { 'idempotency-key': key }) },
          timeoutMs: options.wait ? 0 : undefined,
          body: { jsonrpc: '2.0', id: 1, method: 'SendMessage', params },
        }),
      )
      const result = resultOf(answer)
      print.result(result, () => sendResultText(result, options.wait === true))
    })
}

/** The gateway reads both from the metadata of an A2A message. */
function metadataOf({ priority, wakePolicy }: SendOptions): { metadata?: object } {
  return priority === undefined && wakePolicy === undefined ? {} : { metadata: { priority, wakePolicy } }
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
