import type { Command } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import type { Io } from '../io.ts'
import { readList } from '../read-list.ts'
import { type SubscriptionView, subscriptionTable } from '../views/subscription-view.ts'

export function registerSubList(parent: Command, io: Io): void {
  clientCommand(parent, 'list', 'list the subscriptions', ['rouse sub list']).action(
    async (_options: unknown, command: Command) => {
      const { gateway, print } = connect(io, command)
      const answer = await readList<SubscriptionView>(gateway, '/v1/wake-subscriptions', 'subscriptions')
      print.result(answer, () => subscriptionTable(io, answer.subscriptions ?? []))
    },
  )
}
