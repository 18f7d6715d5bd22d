import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import { UsageError } from '../failure.ts'
import { pathOf } from '../gateway-client.ts'
import type { Io } from '../io.ts'
import { plain } from '../terminal-text.ts'

interface TaskArtifactOptions {
  text: string
  id?: string
  name?: string
  append?: true
  last?: true
}

export function registerTaskArtifact(parent: Command, io: Io): void {
  clientCommand(parent, 'artifact <taskId>', 'add a result to a task, whole or piece by piece', [
    'rouse task artifact 0b6f… --text "# Report …" --name report.md',
    'rouse task artifact 0b6f… --text "more of it" --name report.md --append --last',
  ])
    .requiredOption('--text <text>', 'the content')
    .option('--name <name>', 'its name')
    .option('--id <artifactId>', 'its id (default: its name, else a new one)')
    .option('--append', 'add to the artifact of that name instead of starting it anew')
    .option('--last', 'this is the last piece')
    .action(async (taskId: string, options: TaskArtifactOptions, command: Command) => {
      if (options.append && !options.id && !options.name) {
        throw new UsageError('--append needs to know what to add to: give --name or --id.')
      }
      const artifactId = options.id ?? options.name ?? randomUUID()
      const { gateway, print } = connect(io, command)
      const answer = await gateway.call('POST', pathOf('/v1/tasks', taskId, 'artifacts'), {
        body: {
          artifact: { artifactId, name: options.name, parts: [{ text: options.text }] },
          append: options.append,
          lastChunk: options.last,
        },
      })
      print.result(answer, () => `Artifact ${plain(artifactId)} of task ${plain(taskId)} is stored.\n`)
    })
}
