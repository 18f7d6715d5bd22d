import type { Command } from 'commander'
import { exitCodes, Reported, UsageError } from '../../client/failure.ts'
import type { BodyOf } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { plain } from '../../client/terminal-text.ts'
import { ownIds } from '../ids/own-ids.ts'
import { integer } from '../options/option-values.ts'
import { deliveryTable, heldTable, isTaken, testText } from '../output/delivery-view.ts'
import { subscriptionTable, subscriptionText } from '../output/subscription-view.ts'
import { clientCommand, connect } from '../run/client-command.ts'
import { readPages } from '../run/read-pages.ts'
import { registerSubAdd } from './sub-add.ts'
import { registerSubUpdate } from './sub-update.ts'

interface ReplayOptions {
  event?: string
  from?: number
  to?: number
  failedSince?: string
}

/** `rouse sub …` */
export function registerSub(program: Command, io: Io): void {
  const sub = program
    .command('sub')
    .description('manage wake subscriptions: which events wake an agent, and by which way')
  registerSubAdd(sub, io)
  registerList(sub, io)
  registerShow(sub, io)
  registerSubUpdate(sub, io)
  registerRemove(sub, io)
  registerResync(sub, io)
  registerReplay(sub, io)
  registerTest(sub, io)
  registerDeliveries(sub, io)
  registerHeld(sub, io)
}

function registerList(parent: Command, io: Io): void {
  clientCommand(parent, 'list', 'list the subscriptions', ['rouse sub list', 'rouse sub list --agent @donna'])
    .option('--agent <handle>', 'only those of this agent')
    .action(async ({ agent }: { agent?: string }, command: Command) => {
      const { gateway, print } = connect(io, command)
      const all = await readPages(
        (pageToken) => gateway.call('GET /v1/wake-subscriptions', { query: { pageToken } }),
        (page) => page.subscriptions,
      )
      const handle = agent?.replace(/^@?/, '@')
      const subscriptions = all.filter(({ agentIdentity }) => handle === undefined || agentIdentity === handle)
      print.result({ subscriptions }, () => subscriptionTable(io, subscriptions))
    })
}

function registerShow(parent: Command, io: Io): void {
  clientCommand(parent, 'show <subscription>', 'show one subscription (never its key)', [
    'rouse sub show WAKE_SUB:…',
  ]).action(async (given: string, _options: unknown, command: Command) => {
    const { gateway, print } = connect(io, command)
    const id = await ownIds(gateway).subscription(given)
    const subscription = await gateway.call('GET /v1/wake-subscriptions/:id', { params: { id } })
    print.result(subscription, () => subscriptionText(io, subscription))
  })
}

function registerRemove(parent: Command, io: Io): void {
  clientCommand(parent, 'rm <subscription>', 'remove a subscription', ['rouse sub rm WAKE_SUB:…']).action(
    async (given: string, _options: unknown, command: Command) => {
      const { gateway, print } = connect(io, command)
      const id = await ownIds(gateway).subscription(given)
      const answer = await gateway.call('DELETE /v1/wake-subscriptions/:id', { params: { id } })
      print.result(answer, () => `${plain(id)} is removed.\n`)
    },
  )
}

function registerResync(parent: Command, io: Io): void {
  clientCommand(parent, 'resync <subscription>', 'move the cursor back and send every event after it again', [
    'rouse sub resync WAKE_SUB:… --since 120   # 120 is the last logId that you have seen',
  ])
    .requiredOption('--since <logId>', 'send the events after this logId again; 0 = from the beginning', integer(0))
    .action(async (given: string, { since }: { since: number }, command: Command) => {
      const { gateway, print } = connect(io, command)
      const id = await ownIds(gateway).subscription(given)
      const body = { sinceLogId: since }
      const answer = await gateway.call('POST /v1/wake-subscriptions/:id/resync', { params: { id }, body })
      const { eventsReplayed, lastLogId, countedTo } = answer
      print.result(answer, () =>
        countedTo === undefined
          ? `${eventsReplayed} events are sent again, up to logId ${lastLogId}.\n`
          : `${eventsReplayed} events up to logId ${countedTo} are sent again, and what matches after it: the log is too long to count.\n`,
      )
    })
}

function registerReplay(parent: Command, io: Io): void {
  clientCommand(parent, 'replay <subscription>', 'send wakes again, without moving the cursor', [
    'rouse sub replay WAKE_SUB:… --event 01J9ZK4R8Q6W2T5X7Y0B3C1D2E',
    'rouse sub replay WAKE_SUB:… --from 120 --to 140',
    'rouse sub replay WAKE_SUB:… --failed-since 2026-04-26T10:00:00Z   # every delivery that failed since',
  ])
    .option('--event <eventId>', 'the event of one delivery')
    .option('--from <logId>', 'with --to: the first event of a range', integer(1))
    .option('--to <logId>', 'with --from: the last event of a range', integer(1))
    .option('--failed-since <instant>', 'every delivery that failed since this instant')
    .action(async (given: string, options: ReplayOptions, command: Command) => {
      const body = replayOf(options)
      const { gateway, print } = connect(io, command)
      const id = await ownIds(gateway).subscription(given)
      const answer = await gateway.call('POST /v1/wake-subscriptions/:id/replay', { params: { id }, body })
      const { eventsReplayed, earliestLogId } = answer
      const lost = earliestLogId === undefined ? '' : `Events up to logId ${earliestLogId} are no longer kept.\n`
      print.result(answer, () => `${eventsReplayed} events are sent again.\n${lost}`)
    })
}

function replayOf({ event, from, to, failedSince }: ReplayOptions): BodyOf<'POST /v1/wake-subscriptions/:id/replay'> {
  const given = [event, from ?? to, failedSince].filter((one) => one !== undefined)
  if (given.length === 1) {
    if (event !== undefined) return { eventId: event }
    if (failedSince !== undefined) return { failedSince }
    if (from !== undefined && to !== undefined) return { fromLogId: from, toLogId: to }
  }
  throw new UsageError('Name the events: --event, --from and --to, or --failed-since.')
}

function registerTest(parent: Command, io: Io): void {
  clientCommand(parent, 'test <subscription>', 'send a signed test wake now and show what the webhook answered', [
    'rouse sub test WAKE_SUB:…',
  ]).action(async (given: string, _options: unknown, command: Command) => {
    const { gateway, print } = connect(io, command)
    const id = await ownIds(gateway).subscription(given)
    const answer = await gateway.call('POST /v1/wake-subscriptions/:id/test', { params: { id } })
    print.result(answer, () => testText(io, answer))
    if (!isTaken(answer)) throw new Reported(exitCodes.unsuccessful)
  })
}

function registerDeliveries(parent: Command, io: Io): void {
  clientCommand(parent, 'deliveries <subscription>', 'show what was sent to the webhook, newest first', [
    'rouse sub deliveries WAKE_SUB:… --limit 10',
  ])
    .option('--limit <n>', 'the largest number of rows (default: 50)', integer(1))
    .action(async (given: string, { limit }: { limit?: number }, command: Command) => {
      const { gateway, print } = connect(io, command)
      const id = await ownIds(gateway).subscription(given)
      const answer = await gateway.call('GET /v1/wake-subscriptions/:id/deliveries', {
        params: { id },
        query: { limit },
      })
      print.result(answer, () => deliveryTable(io, answer.deliveries))
    })
}

function registerHeld(parent: Command, io: Io): void {
  clientCommand(parent, 'held <subscription>', 'show the events that matched and woke nobody, and why, newest first', [
    'rouse sub held WAKE_SUB:… --limit 10',
  ])
    .option('--limit <n>', 'the largest number of rows (default: 50)', integer(1))
    .action(async (given: string, { limit }: { limit?: number }, command: Command) => {
      const { gateway, print } = connect(io, command)
      const id = await ownIds(gateway).subscription(given)
      const answer = await gateway.call('GET /v1/wake-subscriptions/:id/held', { params: { id }, query: { limit } })
      print.result(answer, () => heldTable(io, answer.held))
    })
}
