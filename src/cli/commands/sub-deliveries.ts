import type { Command } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import { pathOf } from '../gateway-client.ts'
import type { Io } from '../io.ts'
import { integer } from '../option-values.ts'
import { type DeliveryView, deliveryTable } from '../views/delivery-view.ts'

export function registerSubDeliveries(parent: Command, io: Io): void {
  clientCommand(parent, 'deliveries <id>', 'show what was sent to the webhook, newest first', [
    'rouse sub deliveries WAKE_SUB:… --limit 10',
  ])
    .option('--limit <n>', 'at most so many', integer(1))
    .action(async (id: string, options: { limit?: number }, command: Command) => {
      const { gateway, print } = connect(io, command)
      const answer = await gateway.call<{ deliveries?: DeliveryView[] }>(
        'GET',
        pathOf('/v1/wake-subscriptions', id, 'deliveries'),
        { query: { limit: options.limit } },
      )
      print.result(answer, () => deliveryTable(io, answer.deliveries ?? []))
    })
}
