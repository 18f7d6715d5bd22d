import type { Command } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import type { Io } from '../io.ts'
import { type SubscriptionView, subscriptionTable } from '../views/subscription-view.ts'

export function registerSubList(parent: Command, io: Io): void {
  clientCommand(parent, 'list', 'list the subscriptions', ['rouse sub list']).action(
    async (_options: unknown, command: Command) => {
      const { gateway, print } = connect(io, command)
      const answer = await gateway.call<{ subscriptions?: SubscriptionView[] }>('GET', '/v1/wake-subscriptions')
      print.result(answer, () => subscriptionTable(io, answer.subscriptions ?? []))
    },
  )
}
