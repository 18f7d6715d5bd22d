import { type Command, Option } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import type { Io } from '../io.ts'
import { plain } from '../terminal-text.ts'
import { type TaskView, taskTable } from '../views/task-view.ts'

interface TaskListOptions {
  role?: string
  state?: string
  pageToken?: string
}

interface TaskListAnswer {
  tasks?: TaskView[]
  nextPageToken?: string
  totalSize?: number
}

export function registerTaskList(parent: Command, io: Io): void {
  clientCommand(parent, 'list', "list tasks of the key's agent", [
    'rouse task list --role assignee --state submitted   # what waits for me',
    'rouse task list --role originator                   # what I asked of others',
  ])
    .addOption(
      new Option('--role <role>', 'the part I play: assignee or originator').choices(['assignee', 'originator']),
    )
    .option('--state <state>', 'submitted, working, input-required, completed, …')
    .option('--page-token <token>', 'the next page, as the page before named it')
    .action(async (options: TaskListOptions, command: Command) => {
      const { gateway, print } = connect(io, command)
      const query = { role: options.role, state: options.state, pageToken: options.pageToken }
      const answer = await gateway.call<TaskListAnswer>('GET', '/v1/tasks', { query })
      print.result(answer, () => {
        const tasks = answer.tasks ?? []
        if (!answer.nextPageToken) return taskTable(io, tasks)
        const total = answer.totalSize === undefined ? '' : ` of ${answer.totalSize}`
        return `${taskTable(io, tasks)}${tasks.length}${total} shown; more with --page-token ${plain(answer.nextPageToken)}\n`
      })
    })
}
