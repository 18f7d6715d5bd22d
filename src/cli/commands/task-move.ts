import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import type { TaskState } from '../../tasks/state.ts'
import { clientCommand, connect } from '../client-command.ts'
import type { Io } from '../io.ts'
import { integer } from '../option-values.ts'
import { plain } from '../terminal-text.ts'

interface TaskMoveOptions {
  version?: number
  message?: string
  artifactText?: string
}

export function registerTaskMove(parent: Command, io: Io): void {
  clientCommand(parent, 'move <id> <state>', 'move a task to another state', [
    'rouse task move 0b6f… working',
    'rouse task move 0b6f… completed --artifact-text "All tests pass." --message "Done"',
    'rouse task move 0b6f… input-required --message "Which branch?"',
  ])
    .option('--version <n>', 'move only if the task is still at this version (default: reads it first)', integer(1))
    .option('--message <text>', 'a message of the move')
    .option('--artifact-text <text>', 'a text that is added as an artifact')
    .action(async (id: string, to: string, options: TaskMoveOptions, command: Command) => {
      const { gateway, print } = connect(io, command)
      const params = { id }
      const body = {
        // The gateway refuses other words, and says which there are.
        to: to as TaskState,
        expectedVersion: options.version ?? (await gateway.call('GET /v1/tasks/:id', { params })).version,
        message: options.message === undefined ? undefined : { parts: [{ text: options.message }] },
        artifacts: options.artifactText === undefined ? undefined : [artifactOf(options.artifactText)],
      }
      const task = await gateway.call('POST /v1/tasks/:id/transitions', { params, body })
      print.result(task, () => `${plain(task.id)} is ${plain(task.state)}, version ${task.version}.\n`)
    })
}

function artifactOf(text: string) {
  return { artifactId: randomUUID(), parts: [{ text }] }
}
