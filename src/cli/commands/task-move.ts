import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import { type GatewayClient, pathOf } from '../gateway-client.ts'
import type { Io } from '../io.ts'
import { integer } from '../option-values.ts'
import { plain } from '../terminal-text.ts'
import { stateOf, type TaskView } from '../views/task-view.ts'

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
    .option('--message <text>', 'say something with it')
    .option('--artifact-text <text>', 'hand in a result with it')
    .action(async (id: string, to: string, options: TaskMoveOptions, command: Command) => {
      const { gateway, print } = connect(io, command)
      const path = pathOf('/v1/tasks', id)
      const task = await gateway.call<TaskView>('POST', `${path}/transitions`, {
        body: {
          to,
          expectedVersion: options.version ?? (await readTaskVersion(gateway, path)),
          message: options.message === undefined ? undefined : { parts: [{ text: options.message }] },
          artifacts: options.artifactText === undefined ? undefined : [artifactOf(options.artifactText)],
        },
      })
      print.result(task, () => `${plain(task.id ?? id)} is ${plain(stateOf(task))}, version ${plain(task.version)}.\n`)
    })
}

async function readTaskVersion(gateway: GatewayClient, path: string): Promise<number | undefined> {
  return (await gateway.call<TaskView>('GET', path)).version
}

function artifactOf(text: string) {
  return { artifactId: randomUUID(), parts: [{ text }] }
}
