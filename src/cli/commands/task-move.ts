import { randomUUID } from 'node:crypto'
import { type Command, Option } from 'commander'
import type { Io } from '../../client/io.ts'
import { plain } from '../../client/terminal-text.ts'
import type { WakePolicy } from '../../words/policies.ts'
import type { TaskState } from '../../words/task-states.ts'
import { ownIds } from '../ids/own-ids.ts'
import { integer, wakePolicy } from '../options/option-values.ts'
import { optionText } from '../options/text-input.ts'
import { clientCommand, connect } from '../run/client-command.ts'

interface TaskMoveOptions {
  version?: number
  message?: string
  file?: string
  artifactText?: string
  artifactFile?: string
  wakePolicy?: WakePolicy
  answerAs?: 'task' | 'message'
}

export function registerTaskMove(parent: Command, io: Io): void {
  clientCommand(parent, 'move <task> <state>', 'move a task to another state', [
    'rouse task move 0b6f… working',
    'rouse task move 0b6f… completed --artifact-text "All tests pass." --message "Done"',
    'rouse task move 0b6f… input-required --message "Which branch?"',
    'rouse task move 0b6f… completed --artifact-file report.md',
  ])
    .option('--version <n>', 'move only if the task is still at this version (default: reads it first)', integer(1))
    .option('--message <text>', 'a message of the move; - is standard input')
    .option('--file <file>', 'the message from a file')
    .option('--artifact-text <text>', 'a text that is added as an artifact; - is standard input')
    .option('--artifact-file <file>', 'the text of the artifact from a file')
    .option('--wake-policy <policy>', "immediate, next_turn or silent (default: each party's setting)", wakePolicy)
    .addOption(
      new Option(
        '--answer-as <form>',
        'with completed: what a caller that waits gets, the task or its message',
      ).choices(['task', 'message']),
    )
    .action(async (given: string, to: string, options: TaskMoveOptions, command: Command) => {
      const message = optionText(io, options.message, options.file)
      const artifactText = optionText(io, options.artifactText, options.artifactFile)
      const { gateway, print } = connect(io, command)
      const params = { id: await ownIds(gateway).task(given) }
      const body = {
        // The gateway refuses other words, and says which there are.
        to: to as TaskState,
        expectedVersion: options.version ?? (await gateway.call('GET /v1/tasks/:id', { params })).version,
        message: message === undefined ? undefined : { parts: [{ text: message }] },
        answerAs: options.answerAs,
        wakePolicy: options.wakePolicy,
        artifacts: artifactText === undefined ? undefined : [artifactOf(artifactText)],
      }
      const task = await gateway.call('POST /v1/tasks/:id/transitions', { params, body })
      print.result(task, () => `${plain(task.id)} is ${plain(task.state)}, version ${task.version}.\n`)
    })
}

/** `rouse task cancel`: the move that ends a task which nobody is to work on. */
export function registerTaskCancel(parent: Command, io: Io): void {
  clientCommand(parent, 'cancel <task>', 'cancel a task, as its originator or the operator', [
    'rouse task cancel 0b6f…',
  ])
    .option('--message <text>', 'why; - is standard input')
    .action(async (given: string, options: Pick<TaskMoveOptions, 'message'>, command: Command) => {
      const text = optionText(io, options.message, undefined)
      const { gateway, print } = connect(io, command)
      const params = { id: await ownIds(gateway).task(given) }
      const { version: expectedVersion } = await gateway.call('GET /v1/tasks/:id', { params })
      const message = text === undefined ? undefined : { parts: [{ text }] }
      const body = { to: 'canceled', expectedVersion, message } as const
      const task = await gateway.call('POST /v1/tasks/:id/transitions', { params, body })
      print.result(task, () => `${plain(task.id)} is ${plain(task.state)}.\n`)
    })
}

function artifactOf(text: string) {
  return { artifactId: randomUUID(), parts: [{ text }] }
}
