import type { Command } from 'commander'
import type { Io } from '../../client/io.ts'
import { integer } from '../options/option-values.ts'
import { eventLine } from '../output/event-view.ts'
import { clientCommand, connect } from '../run/client-command.ts'
import { followEvents } from '../tail/follow-events.ts'
import { readEvents } from '../tail/read-events.ts'

interface TailOptions {
  since?: number
  follow?: true
}

export function registerTail(parent: Command, io: Io): void {
  clientCommand(parent, 'tail', 'print the event log, one line for each event', [
    'rouse tail --since 0            # all events until now',
    'rouse tail --follow             # also new events, until Ctrl-C',
    'rouse tail --follow --json | jq .type',
  ])
    .option('--since <logId>', 'start after this event', integer(0))
    .option('-f, --follow', 'keep running and print new events; reconnects automatically')
    .action(async (options: TailOptions, command: Command) => {
      const { gateway, print } = connect(io, command)
      const events = options.follow
        ? followEvents(gateway, { since: options.since, signal: io.signal, note: print.note })
        : readEvents(gateway, options.since ?? 0)
      for await (const event of events) print.item(event, () => eventLine(event))
      print.noteMail()
    })
}
