import type { Command } from 'commander'
import { isTerminal, taskStates } from '../../tasks/state.ts'
import { clientCommand, connect } from '../client-command.ts'
import { Refused, UsageError } from '../failure.ts'
import { bareHandle, type GatewayClient } from '../gateway-client.ts'
import type { Io } from '../io.ts'
import { plain } from '../terminal-text.ts'

interface RemoveOptions {
  freeNames?: boolean
  yes?: boolean
}

export function registerAgentRemove(parent: Command, io: Io): void {
  clientCommand(parent, 'rm <handle>', 'remove an agent, its keys and its subscriptions', [
    'rouse agent rm @donna',
    'rouse agent rm @donna --free-names   # a later agent with this name gets its mail',
  ])
    .option('--free-names', 'free the names of the agent too; without this option they stay reserved')
    .option('-y, --yes', 'do not ask')
    .action(async (name: string, { freeNames, yes }: RemoveOptions, command: Command) => {
      const { gateway, print } = connect(io, command)
      const handle = bareHandle(name)
      if (handle === '') throw new UsageError('The handle is empty.')
      const open = await openTasks(gateway, handle)
      if (!yes && io.ask) await confirm(io.ask, handle, open)
      const query = { freeNames: freeNames ? 'true' : undefined }
      await gateway.call('DELETE /v1/agents/:handle', { params: { handle }, query })
      const openTaskIds = open.tasks.map(({ id }) => id)
      print.result({ handle: `@${handle}`, status: 'removed', openTasks: open.count, openTaskIds }, () => {
        return `@${handle} is removed.\n${openText(open)}`
      })
    })
}

interface OpenTasks {
  readonly count: number
  /** The newest of each state. */
  readonly tasks: readonly { readonly id: string; readonly state: string; readonly originator: string }[]
}

const shownMax = 10
const openStates = taskStates.filter((state) => !isTerminal(state))

/** The tasks that the agent has not finished. None where the gateway refuses: it refuses the removal too, or the agent is gone. */
async function openTasks(gateway: GatewayClient, handle: string): Promise<OpenTasks> {
  try {
    const pages = await Promise.all(openStates.map((state) => tasksIn(gateway, handle, state)))
    const count = pages.reduce((sum, { totalSize }) => sum + totalSize, 0)
    return { count, tasks: pages.flatMap(({ tasks }) => tasks).slice(0, shownMax) }
  } catch (error) {
    if (error instanceof Refused) return { count: 0, tasks: [] }
    throw error
  }
}

function tasksIn(gateway: GatewayClient, agent: string, state: (typeof taskStates)[number]) {
  return gateway.call('GET /v1/tasks', { query: { agent, state, pageSize: shownMax, historyLength: 1 } })
}

async function confirm(ask: NonNullable<Io['ask']>, handle: string, { count }: OpenTasks): Promise<void> {
  const tasks = count === 0 ? '' : ` Nobody will work on its ${countText(count)}.`
  const answer = await ask(`Remove @${handle}, its keys and its subscriptions?${tasks} [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim())) throw new UsageError(`@${handle} was not removed.`)
}

function openText({ count, tasks }: OpenTasks): string {
  if (count === 0) return ''
  const rows = tasks.map(({ id, state, originator }) => `  ${plain(id)}  ${plain(state)}  from ${plain(originator)}\n`)
  const more = count > tasks.length ? `  and ${count - tasks.length} more\n` : ''
  const which = count === 1 ? 'stays open, and nobody works on it' : 'stay open, and nobody works on them'
  return `${countText(count)} ${which}:\n${rows.join('')}${more}End one with: rouse task move <id> canceled\n`
}

function countText(count: number): string {
  return count === 1 ? '1 open task' : `${count} open tasks`
}
