import { randomUUID } from 'node:crypto'
import { type Command, Option } from 'commander'
import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { plain } from '../../client/terminal-text.ts'
import { ownIds } from '../ids/own-ids.ts'
import { optionText } from '../options/text-input.ts'
import { taskTable, taskText } from '../output/task-view.ts'
import { clientCommand, connect } from '../run/client-command.ts'
import { registerTaskCancel, registerTaskMove } from './task-move.ts'

interface ListOptions {
  agent?: string
  role?: string
  state?: string
  pageToken?: string
}

interface ArtifactOptions {
  text?: string
  file?: string
  id?: string
  name?: string
  append?: true
  last?: true
}

/** `rouse task …` */
export function registerTask(program: Command, io: Io): void {
  const task = program.command('task').description('list, show and move tasks, and add results to them')
  registerList(task, io)
  registerShow(task, io)
  registerTaskMove(task, io)
  registerTaskCancel(task, io)
  registerArtifact(task, io)
}

function registerList(parent: Command, io: Io): void {
  clientCommand(parent, 'list', "list tasks of the key's agent; with the operator's key, of the project", [
    'rouse task list --role assignee --state submitted   # tasks that wait for this agent',
    'rouse task list --role originator                   # tasks that this agent started',
    "rouse task list --agent @donna                      # with the operator's key: tasks that donna works on",
  ])
    .option('--agent <handle>', "only tasks of this agent; needs the operator's key")
    .addOption(
      new Option('--role <role>', 'only tasks in which the caller is assignee or originator').choices([
        'assignee',
        'originator',
      ]),
    )
    .option('--state <state>', 'submitted, working, input-required, completed, …')
    .option('--page-token <token>', 'the next page: the token at the end of the previous page')
    .action(async ({ agent, role, state, pageToken }: ListOptions, command: Command) => {
      const { gateway, print } = connect(io, command)
      const answer = await gateway.call('GET /v1/tasks', { query: { agent, role, state, pageToken } })
      const { tasks, nextPageToken, totalSize } = answer
      print.result(answer, () => {
        const more = `${tasks.length} of ${totalSize} shown; more with --page-token ${plain(nextPageToken)}\n`
        return taskTable(io, tasks) + (nextPageToken ? more : '')
      })
    })
}

function registerShow(parent: Command, io: Io): void {
  clientCommand(parent, 'show <task>', 'show a task: state, messages, artifacts', ['rouse task show 0b6f…']).action(
    async (given: string, _options: unknown, command: Command) => {
      const { gateway, print } = connect(io, command)
      const id = await ownIds(gateway).task(given)
      const task = await gateway.call('GET /v1/tasks/:id', { params: { id } })
      print.result(task, () => taskText(io, task))
    },
  )
}

function registerArtifact(parent: Command, io: Io): void {
  clientCommand(parent, 'artifact <task>', 'add an artifact to a task, whole or in pieces', [
    'rouse task artifact 0b6f… --text "# Report …" --name report.md',
    'rouse task artifact 0b6f… --text "more of it" --name report.md --append --last',
  ])
    .option('--text <text>', 'the content; - is standard input')
    .option('--file <file>', 'the content from a file')
    .option('--name <name>', 'its name')
    .option('--id <artifactId>', 'its id (default: its name, else a new one)')
    .option('--append', 'append to the artifact; without this option the artifact is replaced')
    .option('--last', 'this is the last piece')
    .action(async (given: string, { name, append, last, ...options }: ArtifactOptions, command: Command) => {
      if (append && !options.id && !name) {
        throw new UsageError('--append needs to know what to add to: give --name or --id.')
      }
      const text = optionText(io, options.text, options.file)
      if (text === undefined) throw new UsageError('Give the content with --text or --file.')
      const artifactId = options.id ?? name ?? randomUUID()
      const { gateway, print } = connect(io, command)
      const id = await ownIds(gateway).task(given)
      const artifact = { artifactId, name, parts: [{ text }] }
      const body = { artifact, append, lastChunk: last }
      const answer = await gateway.call('POST /v1/tasks/:id/artifacts', { params: { id }, body })
      print.result(answer, () => `Artifact ${plain(artifactId)} of task ${plain(id)} is stored.\n`)
    })
}
