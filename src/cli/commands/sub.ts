import type { Command } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import type { Io } from '../io.ts'
import { integer } from '../option-values.ts'
import { readPages } from '../read-pages.ts'
import { plain } from '../terminal-text.ts'
import { attemptText, deliveryTable } from '../views/delivery-view.ts'
import { subscriptionTable, subscriptionText } from '../views/subscription-view.ts'
import { registerSubAdd } from './sub-add.ts'
import { registerSubUpdate } from './sub-update.ts'

/** `rouse sub …` */
export function registerSub(program: Command, io: Io): void {
  const sub = program.command('sub').description('manage wake subscriptions: which events reach which webhook')
  registerSubAdd(sub, io)
  registerList(sub, io)
  registerShow(sub, io)
  registerSubUpdate(sub, io)
  registerRemove(sub, io)
  registerResync(sub, io)
  registerTest(sub, io)
  registerDeliveries(sub, io)
}

function registerList(parent: Command, io: Io): void {
  clientCommand(parent, 'list', 'list the subscriptions', ['rouse sub list']).action(
    async (_options: unknown, command: Command) => {
      const { gateway, print } = connect(io, command)
      const subscriptions = await readPages(
        (pageToken) => gateway.call('GET /v1/wake-subscriptions', { query: { pageToken } }),
        (page) => page.subscriptions,
      )
      print.result({ subscriptions }, () => subscriptionTable(io, subscriptions))
    },
  )
}

function registerShow(parent: Command, io: Io): void {
  clientCommand(parent, 'show <id>', 'show one subscription (never its key)', ['rouse sub show WAKE_SUB:…']).action(
    async (id: string, _options: unknown, command: Command) => {
      const { gateway, print } = connect(io, command)
      const subscription = await gateway.call('GET /v1/wake-subscriptions/:id', { params: { id } })
      print.result(subscription, () => subscriptionText(subscription))
    },
  )
}

function registerRemove(parent: Command, io: Io): void {
  clientCommand(parent, 'rm <id>', 'remove a subscription', ['rouse sub rm WAKE_SUB:…']).action(
    async (id: string, _options: unknown, command: Command) => {
      const { gateway, print } = connect(io, command)
      const answer = await gateway.call('DELETE /v1/wake-subscriptions/:id', { params: { id } })
      print.result(answer, () => `${plain(id)} is removed.\n`)
    },
  )
}

function registerResync(parent: Command, io: Io): void {
  clientCommand(parent, 'resync <id>', 'send again everything after a point of the log', [
    'rouse sub resync WAKE_SUB:… --since 120   # 120 is the last logId that you have seen',
  ])
    .requiredOption('--since <logId>', 'the last logId that was seen; 0 = from the beginning', integer(0))
    .action(async (id: string, { since }: { since: number }, command: Command) => {
      const { gateway, print } = connect(io, command)
      const body = { sinceLogId: since }
      const answer = await gateway.call('POST /v1/wake-subscriptions/:id/resync', { params: { id }, body })
      print.result(answer, () => `${answer.eventsReplayed} events are sent again, up to logId ${answer.lastLogId}.\n`)
    })
}

function registerTest(parent: Command, io: Io): void {
  clientCommand(parent, 'test <id>', 'send a signed test wake now and show what the webhook answered', [
    'rouse sub test WAKE_SUB:…',
  ]).action(async (id: string, _options: unknown, command: Command) => {
    const { gateway, print } = connect(io, command)
    const answer = await gateway.call('POST /v1/wake-subscriptions/:id/test', { params: { id } })
    const { error, status } = answer.attempt
    const accepted = error === null && status !== null && status >= 200 && status < 300
    const verdict = accepted ? 'The webhook accepted the test wake' : 'The webhook did not accept the test wake'
    print.result(answer, () => `${verdict}: ${plain(attemptText(answer.attempt))}\n`)
  })
}

function registerDeliveries(parent: Command, io: Io): void {
  clientCommand(parent, 'deliveries <id>', 'show what was sent to the webhook, newest first', [
    'rouse sub deliveries WAKE_SUB:… --limit 10',
  ])
    .option('--limit <n>', 'how many at most (default: 50)', integer(1))
    .action(async (id: string, { limit }: { limit?: number }, command: Command) => {
      const { gateway, print } = connect(io, command)
      const answer = await gateway.call('GET /v1/wake-subscriptions/:id/deliveries', {
        params: { id },
        query: { limit },
      })
      print.result(answer, () => deliveryTable(io, answer.deliveries))
    })
}
