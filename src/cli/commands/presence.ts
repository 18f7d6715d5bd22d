import { Argument, type Command, Option } from 'commander'
import { bareHandle } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { plain } from '../../client/terminal-text.ts'
import { type PresenceSource, type PresenceState, presenceSources, presenceStates } from '../../words/presence.ts'
import { collect } from '../options/option-values.ts'
import { presenceText } from '../output/session-view.ts'
import { clientCommand, connect } from '../run/client-command.ts'

interface SetOptions {
  source: PresenceSource
  turn?: string
  capability?: string[]
}

/** `rouse presence …`: what the harness of an agent is doing. */
export function registerPresence(program: Command, io: Io): void {
  const presence = program.command('presence').description('report and show what a harness is doing')
  clientCommand(presence, 'set', "report what the key's agent is doing; it needs a live session", [
    'rouse presence set idle',
    'rouse presence set active --turn t-12',
  ])
    .addArgument(new Argument('<state>', 'what the harness is doing').choices(presenceStates))
    .addOption(new Option('--source <source>', 'who reports it').choices(presenceSources).default('unknown'))
    .option('--turn <id>', 'the id of the running turn')
    .option('--capability <name>', 'what the harness can do; repeatable, replaces the earlier ones', collect)
    .action(async (state: PresenceState, { source, turn, capability }: SetOptions, command: Command) => {
      const { gateway, print } = connect(io, command)
      const body = { state, source, activeTurnId: turn, capabilities: capability }
      const answer = await gateway.call('PUT /v1/presence', { body })
      print.result(answer, () => `Session ${plain(answer.sessionId)} is ${answer.state}.\n`)
    })
  clientCommand(presence, 'show [agent]', 'show what an agent is doing (default: the agent of the key)', [
    'rouse presence show @donna',
  ]).action(async (agent: string | undefined, _options: unknown, command: Command) => {
    const { gateway, print } = connect(io, command)
    const handle = bareHandle(agent ?? (await gateway.call('GET /v1/whoami')).identity)
    const { presence, session } = await gateway.call('GET /v1/agents/:handle', { params: { handle } })
    print.result({ presence, session }, () => presenceText(io, `@${handle}`, { presence, session }))
  })
}
