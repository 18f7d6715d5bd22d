import type { Command } from 'commander'
import type { Io } from '../../client/io.ts'
import { plain } from '../../client/terminal-text.ts'
import { table } from '../output/table.ts'
import { when } from '../output/when.ts'
import { clientCommand, connect } from '../run/client-command.ts'

/** `rouse turns`: the account of the turns of agents, the newest first. */
export function registerTurns(program: Command, io: Io): void {
  clientCommand(program, 'turns [agent]', 'show the turns that were begun, by which route and for whom', [
    'rouse turns',
    'rouse turns @donna --json',
  ]).action(async (agent: string | undefined, _options: unknown, command: Command) => {
    const { gateway, print } = connect(io, command)
    const answer = await gateway.call('GET /v1/turns', { query: { agent } })
    const rows = answer.turns.map(({ agent, startedAt, act, route, senders, outcome, detail, endedAt }) => [
      when(io, startedAt),
      plain(agent),
      `${act} by ${plain(route)}`,
      plain(senders.join(', ')),
      outcome === 'withheld'
        ? `withheld by the cap of the ${plain(detail)} until ${when(io, endedAt!)}`
        : plain([outcome ?? 'begun', detail].filter(Boolean).join(': ')),
    ])
    print.result(answer, () => table(io, ['BEGUN', 'AGENT', 'TURN', 'FOR', 'END'], rows, 'No turns.'))
  })
}
