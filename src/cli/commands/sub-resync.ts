import type { Command } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import { pathOf } from '../gateway-client.ts'
import type { Io } from '../io.ts'
import { integer } from '../option-values.ts'

export function registerSubResync(parent: Command, io: Io): void {
  clientCommand(parent, 'resync <id>', 'send again what came after a point of the log', [
    'rouse sub resync WAKE_SUB:… --since 120   # 120 is the last logId that you have seen',
  ])
    .requiredOption('--since <logId>', 'the last logId that was seen; 0 = from the beginning', integer(0))
    .action(async (id: string, options: { since: number }, command: Command) => {
      const { gateway, print } = connect(io, command)
      const answer = await gateway.call<{ eventsReplayed?: number; lastLogId?: number }>(
        'POST',
        pathOf('/v1/wake-subscriptions', id, 'resync'),
        { body: { sinceLogId: options.since } },
      )
      print.result(
        answer,
        () =>
          `${answer.eventsReplayed ?? 0} events are sent again, up to logId ${answer.lastLogId ?? options.since}.\n`,
      )
    })
}
