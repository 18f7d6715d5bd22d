import type { Command } from 'commander'
import { isHidden, UsageError } from '../../client/failure.ts'
import { bareHandle, type GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { isTerminal, taskStates } from '../../words/task-states.ts'
import { clientCommand, connect } from '../run/client-command.ts'
import { requireConsent } from '../run/consent.ts'

export function registerAgentRemove(parent: Command, io: Io): void {
  clientCommand(parent, 'rm <handle>', 'remove an agent, its keys and its subscriptions; its open tasks are rejected', [
    'rouse agent rm @donna',
    'rouse agent rm @donna --free-names   # a later agent with this name gets its mail',
  ])
    .option('--free-names', 'free the names of the agent too; without this option they stay reserved')
    .option('-y, --yes', 'do not ask; needed where nobody is at a terminal')
    .action(async (name: string, { freeNames, yes }: { freeNames?: boolean; yes?: boolean }, command: Command) => {
      const { gateway, print } = connect(io, command)
      const handle = bareHandle(name)
      if (handle === '') throw new UsageError('The handle is empty.')
      if (!yes) await confirm(io, handle, await countOpenTasks(gateway, handle))
      const query = { freeNames: freeNames ? 'true' : undefined }
      const { tasksRejected } = await gateway.call('DELETE /v1/agents/:handle', { params: { handle }, query })
      print.result({ handle: `@${handle}`, status: 'removed', tasksRejected }, () => {
        const rejected = `${countText(tasksRejected)} ${tasksRejected === 1 ? 'was' : 'were'} rejected.`
        return `@${handle} is removed. ${tasksRejected === 0 ? 'It had no open tasks.' : rejected}\n`
      })
    })
}

const openStates = taskStates.filter((state) => !isTerminal(state))

/** The tasks that the agent has not finished. None where the key may not see them: it may not remove the agent either, or the agent is gone. */
async function countOpenTasks(gateway: GatewayClient, handle: string): Promise<number> {
  try {
    const pages = await Promise.all(openStates.map((state) => tasksIn(gateway, handle, state)))
    return pages.reduce((sum, { totalSize }) => sum + totalSize, 0)
  } catch (error) {
    if (isHidden(error)) return 0
    throw error
  }
}

function tasksIn(gateway: GatewayClient, agent: string, state: (typeof taskStates)[number]) {
  return gateway.call('GET /v1/tasks', { query: { agent, state, pageSize: 1, historyLength: 1 } })
}

function confirm(io: Io, handle: string, count: number): Promise<void> {
  const tasks = count === 0 ? '' : ` Its ${countText(count)} will be rejected.`
  return requireConsent(io, `Remove @${handle}, its keys and its subscriptions?${tasks}`, `@${handle} was not removed.`)
}

function countText(count: number): string {
  return count === 1 ? '1 open task' : `${count} open tasks`
}
