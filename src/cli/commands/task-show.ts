import type { Command } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import { pathOf } from '../gateway-client.ts'
import type { Io } from '../io.ts'
import { type TaskView, taskText } from '../views/task-view.ts'

export function registerTaskShow(parent: Command, io: Io): void {
  clientCommand(parent, 'show <id>', 'show a task: state, messages, artifacts', ['rouse task show 0b6f…']).action(
    async (id: string, _options: unknown, command: Command) => {
      const { gateway, print } = connect(io, command)
      const task = await gateway.call<TaskView>('GET', pathOf('/v1/tasks', id))
      print.result(task, () => taskText(task))
    },
  )
}
