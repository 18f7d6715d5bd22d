import type { Command } from 'commander'
import type { Trigger } from '../../log/event.ts'
import { clientCommand, connect } from '../client-command.ts'
import { UsageError } from '../failure.ts'
import type { Io } from '../io.ts'
import { listen } from '../listen/listen.ts'
import { collect, collectTrigger, integer } from '../option-values.ts'

interface ListenCommandOptions {
  port: number
  path: string
  signingKey?: string[]
  exec?: string
  subscribe?: Trigger[]
  window: number
  agent?: string
}

export function registerListen(parent: Command, io: Io): void {
  clientCommand(parent, 'listen', 'receive signed wakes on this machine, and run a command for each', [
    'rouse listen --subscribe SENT_TO_ME                         # needs only the key of the agent (ROUSE_KEY)',
    "rouse listen --subscribe SENT_TO_ME --exec 'jq -r .payload.subject'",
    'rouse listen --port 8080 --signing-key whsec_…              # for a subscription that stays',
  ])
    .option('--port <port>', 'the port on 127.0.0.1; 0 = any free one', integer(0, 65_535), 0)
    .option('--path <path>', 'the path of the webhook', '/')
    .option(
      '--signing-key <key>',
      'verifies the wakes (default: $ROUSE_SIGNING_KEY); repeatable, for a rotation',
      collect,
    )
    .option('--subscribe <trigger>', 'subscribe to this until it stops; repeatable', collectTrigger)
    .option('--agent <handle>', "with --subscribe: whose wakes, when the key is the operator's")
    .option('--window <seconds>', 'with --subscribe: gather events for so long into one digest', integer(0, 300), 0)
    .option('--exec <command>', 'run this through the shell for each wake, one at a time')
    .addHelpText('after', `\n${execHelp}`)
    .action(async (options: ListenCommandOptions, command: Command) => {
      const signingKeys = (options.signingKey ?? [io.env.ROUSE_SIGNING_KEY ?? '']).filter(Boolean)
      const triggers = [...new Set(options.subscribe)]
      if (signingKeys.length === 0 && triggers.length === 0) {
        throw new UsageError(
          'Nothing to verify wakes with. Subscribe right here:  rouse listen --subscribe SENT_TO_ME\n' +
            '  Or give the key that `rouse sub add` printed:       rouse listen --signing-key whsec_…',
        )
      }
      const path = new URL(`http://127.0.0.1/${options.path.replace(/^\/+/, '')}`).pathname
      const { gateway, print } = connect(io, command)
      const { port, exec, agent, window: windowSeconds } = options
      await listen({ port, path, signingKeys, exec, triggers, agent, windowSeconds }, io, gateway, print)
    })
}

const execHelp = `The command of --exec reads the wake as JSON on its standard input and finds in its environment
ROUSE_EVENT_TYPE, ROUSE_EVENT_ID, ROUSE_LOG_ID, ROUSE_SUBSCRIPTION_ID and, where there is one, ROUSE_TASK_ID.
Standard output has the wakes and what the command prints; with --json the wakes alone.`
