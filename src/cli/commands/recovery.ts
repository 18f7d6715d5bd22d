import type { Command } from 'commander'
import { exitCodes, Reported, UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { createPrinter } from '../../client/printer.ts'
import { plain } from '../../client/terminal-text.ts'
import { sleep, systemClock } from '../../lib/clock.ts'
import { table } from '../output/table.ts'
import { when } from '../output/when.ts'
import { clientCommand, commonOptions, connect, jsonOption, withExamples } from '../run/client-command.ts'

const lookMs = 1_000

/** `rouse recovery …`: restarts of harnesses. */
export function registerRecovery(program: Command, io: Io): void {
  const recovery = program.command('recovery').description('restarts of the harnesses of agents')
  registerList(recovery, io)
  registerProve(recovery, io)
}

/** `rouse recovery list`: what is seen of each agent, and what is done for it. */
function registerList(recovery: Command, io: Io): void {
  clientCommand(recovery, 'list [agent]', 'show what is seen of agents, and what is done for them and why', [
    'rouse recovery list',
    'rouse recovery list @donna --json',
  ]).action(async (agent: string | undefined, _options: unknown, command: Command) => {
    const { gateway, print } = connect(io, command)
    const answer = await gateway.call('GET /v1/recovery', { query: { agent } })
    const rows = answer.recovery.map(({ agent, candidates: [found], decision, inFlight, parked }) => {
      const doing = inFlight ? `${inFlight.mode} since ${when(io, inFlight.since)}` : decision?.action
      const why = parked ? `${parked.reason} until ${parked.until ?? 'a person acts'}` : decision?.reason
      return [
        plain(agent),
        found ? `${found.kind} (${found.grade})` : '',
        plain(String(doing ?? '')),
        plain(String(why ?? '')),
      ]
    })
    print.result(answer, () => table(io, ['AGENT', 'SEEN', 'DOING', 'WHY'], rows, 'No agents.'))
  })
}

/** `rouse heartbeat`: which agents depend on it, because no route of theirs has proved itself. */
export function registerHeartbeat(program: Command, io: Io): void {
  clientCommand(
    program,
    'heartbeat [agent]',
    'show which agents have a proven route, and who depends on the heartbeat',
    ['rouse heartbeat'],
  ).action(async (agent: string | undefined, _options: unknown, command: Command) => {
    const { gateway, print } = connect(io, command)
    const answer = await gateway.call('GET /v1/heartbeat', { query: { agent } })
    const rows = answer.heartbeats.map(({ agent, bypassedBy, lastPulseAt }) => [
      plain(agent),
      bypassedBy ? bypassedBy.harnessTarget : 'none: it depends on the heartbeat',
      when(io, lastPulseAt) || 'never',
    ])
    print.result(answer, () => table(io, ['AGENT', 'PROVEN ROUTE', 'LAST PULSE'], rows, 'No agents.'))
  })
}

/** `rouse unpark`: an agent whose harness is at a limit is left alone until it is over. */
export function registerUnpark(program: Command, io: Io): void {
  clientCommand(program, 'unpark <agent>', 'end the wait of an agent for the end of a limit of its harness', [
    'rouse unpark @donna',
  ]).action(async (agent: string, _options: unknown, command: Command) => {
    const { gateway, print } = connect(io, command)
    const { parked } = await gateway.call('GET /v1/parked', { query: { agent } })
    await gateway.call('DELETE /v1/parked', { query: { agent } })
    const said = parked === null ? 'was not parked' : 'is woken again'
    print.result({ agent, parked: null }, () => `${plain(agent)} ${said}.\n`)
  })
}

/** `rouse recovery prove`: the bridge of this machine starts a harness by its recipe, once. Exits with 1 where that does not work. */
function registerProve(recovery: Command, io: Io): void {
  const prove = recovery
    .command('prove <agent>')
    .description('start the harness of an agent once by the recipe of the bridge, and see whether it works')
  withExamples(prove, ['rouse recovery prove @donna'])
  prove.addOption(jsonOption()).action(async (agent: string, _options: unknown, command: Command) => {
    const { askProof } = await import('../../bridge/local/ask-bridge.ts')
    const print = createPrinter(io, commonOptions(command).json === true)
    let said = ''
    let found = await asked(askProof(io.env, agent))
    for (; found.state === 'running' && !io.signal?.aborted; found = await asked(askProof(io.env, agent, found.run))) {
      if (found.detail !== said) print.note(plain(found.detail))
      said = found.detail
      await sleep(systemClock, lookMs, io.signal)
    }
    // The bridge goes on with it, but nothing is proven yet.
    if (found.state === 'running') io.signal?.throwIfAborted()
    const { state, detail } = found
    print.result(
      { agent, state, detail },
      () => `${agent}: ${state === 'running' ? 'not proven yet' : state}: ${plain(detail)}\n`,
    )
    if (state !== 'proven') throw new Reported(exitCodes.refused)
  })
}

async function asked<Answer>(asking: Promise<Answer | undefined>): Promise<Answer> {
  const answer = await asking
  if (answer) return answer
  throw new UsageError('No bridge of this user answers. Start it where the harness is to run: rouse bridge')
}
