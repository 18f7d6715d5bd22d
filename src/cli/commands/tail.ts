import type { Command } from 'commander'
import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import type { EventView } from '../../client/route-types.ts'
import { integer } from '../options/option-values.ts'
import { clientCommand, connect } from '../run/client-command.ts'
import { eventLines } from '../tail/event-line.ts'
import { followEvents } from '../tail/follow-events.ts'

const pageSize = 200

export function registerTail(parent: Command, io: Io): void {
  clientCommand(
    parent,
    'tail',
    'print the event log: one line for each event, with its time, who did it, what, and about what',
    [
      'rouse tail --since 0            # all events until now',
      'rouse tail --follow             # also new events, until Ctrl-C',
      'rouse tail --follow --json | jq .type',
    ],
  )
    .option('--since <logId>', 'start after this event', integer(0))
    .option('-f, --follow', 'keep running and print new events; reconnects automatically')
    .action(async (options: { since?: number; follow?: true }, command: Command) => {
      const { gateway, print } = connect(io, command)
      const events = options.follow
        ? followEvents(gateway, { since: options.since, signal: io.signal, note: print.note })
        : readEvents(gateway, options.since ?? 0)
      const lineOf = eventLines(io)
      for await (const event of events) print.item(event, () => lineOf(event))
      print.noteMail()
    })
}

/** Every event after `since`, page by page, until the log's end. */
async function* readEvents(gateway: GatewayClient, since: number): AsyncGenerator<EventView, void, undefined> {
  let after = since
  for (;;) {
    const { events } = await gateway.call('GET /v1/events', { query: { since: after, limit: pageSize } })
    const fresh = events.filter((event) => event.logId > after)
    if (fresh.length === 0) return
    yield* fresh
    after = fresh.at(-1)!.logId
  }
}
