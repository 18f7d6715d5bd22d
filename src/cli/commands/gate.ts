import { type Command, Option } from 'commander'
import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import type { AnswerOf, BodyOf } from '../../client/route-types.ts'
import { plain } from '../../client/terminal-text.ts'
import { fields } from '../output/table.ts'
import { when } from '../output/when.ts'
import { clientCommand, connect } from '../run/client-command.ts'

interface GateOptions {
  nudges?: 'on' | 'off'
  restarts?: 'on' | 'off'
  reason?: string
  proof?: string
  backlog?: 'digest' | 'skip' | 'off'
  set?: string[]
}

/** `rouse gate [agent]`: what recovery may do. With options it changes that. */
export function registerGate(program: Command, io: Io): void {
  clientCommand(program, 'gate [agent]', 'show or change what recovery may do: in the project, or for an agent', [
    'rouse gate',
    'rouse gate --restarts on --reason "the bridge runs as a service"',
    'rouse gate @donna --nudges on --proof MESSAGE:… --backlog digest   # after a trip: rouse wake test @donna',
  ])
    .addOption(new Option('--nudges <state>', 'pulses into live sessions').choices(['on', 'off']))
    .addOption(new Option('--restarts <state>', 'orders to restart a harness').choices(['on', 'off']))
    .option('--reason <text>', 'why, for those who look at it')
    .option('--proof <messageId>', 'of a gate that has tripped: the wake test that its agent has acknowledged since')
    .addOption(new Option('--backlog <what>', 'what becomes of what gathered').choices(['digest', 'skip', 'off']))
    .option(
      '--set <name=number>',
      'a time or a bound, e.g. staleAfterSeconds=300; repeatable',
      (one, all: string[] = []) => [...all, one],
    )
    .action(async (agent: string | undefined, options: GateOptions, command: Command) => {
      const { gateway, print } = connect(io, command)
      const body = changeOf(options)
      const answer =
        body === undefined
          ? await gateway.call('GET /v1/gate', { query: { agent } })
          : await gateway.call('PATCH /v1/gate', { body: { ...body, agent } })
      print.result(answer, () => gateText(io, answer))
    })
}

type Change = BodyOf<'PATCH /v1/gate'>

const states = { on: 'enabled', off: 'disabled' } as const

/** undefined: nothing is to be changed. Errors: `UsageError`. */
function changeOf({ nudges, restarts, reason, proof, backlog, set }: GateOptions): Change | undefined {
  const settings = set && Object.fromEntries(set.map(settingOf))
  const given = [nudges, restarts, reason, proof, backlog, set].filter((value) => value !== undefined)
  if (given.length === 0) return undefined
  return {
    nudges: nudges && states[nudges],
    restarts: restarts && states[restarts],
    reason,
    proof,
    backlog,
    // The gateway knows the names, and says which it takes.
    settings: settings as Change['settings'],
  }
}

function settingOf(text: string): [string, number] {
  const [name, value] = text.split('=')
  if (name && value && /^\d+$/.test(value)) return [name, Number(value)]
  throw new UsageError(`--set: "${text}" is not a name and a number, e.g. staleAfterSeconds=300.`)
}

function gateText(io: Io, gate: AnswerOf<'GET /v1/gate'>): string {
  const { settings, gates = [] } = gate
  return `${[gate, ...gates].map((one) => stateText(io, one)).join('  ')}${fields({ ...settings })}`
}

function stateText(
  io: Io,
  { agent, nudges, restarts, reason, since }: Omit<AnswerOf<'GET /v1/gate'>, 'settings'>,
): string {
  const changed = [since === null ? '' : when(io, since), reason === null ? '' : plain(reason)]
    .filter(Boolean)
    .join(': ')
  return `${agent ? plain(agent) : 'The project'}: nudges ${nudges}, restarts ${restarts}${changed ? ` (${changed})` : ''}\n`
}
