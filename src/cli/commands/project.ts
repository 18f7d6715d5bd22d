import type { Command } from 'commander'
import type { Io } from '../../client/io.ts'
import { plain } from '../../client/terminal-text.ts'
import { table } from '../output/table.ts'
import { when } from '../output/when.ts'
import { clientCommand, connect } from '../run/client-command.ts'
import { registerProjectLimits } from './project-limits.ts'

/** `rouse project …`: the tenants of a gateway, for its operator. */
export function registerProject(program: Command, io: Io): void {
  const project = program
    .command('project')
    .description('make and list projects; each has its own agents, mail and log')
  clientCommand(project, 'add <project>', 'make a project', ['rouse project add web']).action(
    async (name: string, _options: unknown, command: Command) => {
      const { gateway, print } = connect(io, command)
      const made = await gateway.call('POST /v1/projects', { body: { project: name } })
      const id = plain(made.project)
      print.result(made, () => `${id} is there. Add an agent to it with: rouse agent add @donna --project ${id}\n`)
    },
  )
  registerProjectLimits(project, io)
  clientCommand(project, 'list', 'list the projects', ['rouse project list']).action(
    async (_options: unknown, command: Command) => {
      const { gateway, print } = connect(io, command)
      const answer = await gateway.call('GET /v1/projects')
      const rows = answer.projects.map(({ project, createdAt }) => [project, when(io, createdAt)])
      print.result(answer, () => table(io, ['PROJECT', 'CREATED'], rows, 'No projects.'))
    },
  )
}
