import type { Command } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import { pathOf } from '../gateway-client.ts'
import type { Io } from '../io.ts'
import { type SubscriptionView, subscriptionText } from '../views/subscription-view.ts'

export function registerSubShow(parent: Command, io: Io): void {
  clientCommand(parent, 'show <id>', 'show one subscription (never its key)', ['rouse sub show WAKE_SUB:…']).action(
    async (id: string, _options: unknown, command: Command) => {
      const { gateway, print } = connect(io, command)
      const subscription = await gateway.call<SubscriptionView>('GET', pathOf('/v1/wake-subscriptions', id))
      print.result(subscription, () => subscriptionText(subscription))
    },
  )
}
