import { type Command, Option } from 'commander'
import type { Trigger } from '../../log/event.ts'
import { clientCommand, connect } from '../client-command.ts'
import { UsageError } from '../failure.ts'
import type { Io } from '../io.ts'
import { listen } from '../listen/listen.ts'
import { collect, collectTrigger, integer } from '../option-values.ts'
import { readSecret, warnOfFlag, withheldVariables } from '../secret-input.ts'

interface ListenCommandOptions {
  port: number
  path: string
  signingKey?: string[]
  signingKeyFile?: string[]
  exec?: string
  subscribe?: Trigger[]
  window: number
  agent?: string
}

export function registerListen(parent: Command, io: Io): void {
  clientCommand(parent, 'listen', 'receive signed wakes on this machine, and run a command for each', [
    'rouse listen --subscribe SENT_TO_ME                         # needs only the key of the agent (ROUSE_KEY_FILE)',
    "rouse listen --subscribe SENT_TO_ME --exec 'jq -r .payload.subject'",
    'rouse listen --port 8080 --signing-key-file donna.whsec     # for a permanent subscription',
  ])
    .option('--port <port>', 'the port on 127.0.0.1; 0 = any free one', integer(0, 65_535), 0)
    .option('--path <path>', 'the path of the webhook', '/')
    .option(
      '--signing-key-file <file>',
      'a file with the key that verifies the wakes; - is standard input (default: $ROUSE_SIGNING_KEY); repeatable, for a rotation',
      collect,
    )
    .addOption(
      new Option('--signing-key <key>', 'the key itself, which every user of this machine can see')
        .argParser(collect)
        .hideHelp(),
    )
    .option('--subscribe <trigger>', 'subscribe to this trigger until the command stops; repeatable', collectTrigger)
    .option('--agent <handle>', "with --subscribe: the agent to wake; needs the operator's key")
    .option('--window <seconds>', 'with --subscribe: how long events are collected into one digest', integer(0, 300), 0)
    .option('--exec <command>', 'run this shell command for each wake, one at a time')
    .addHelpText('after', `\n${execHelp}`)
    .action(async (options: ListenCommandOptions, command: Command) => {
      const signingKeys = readSigningKeys(options, io)
      const triggers = [...new Set(options.subscribe)]
      if (signingKeys.length === 0 && triggers.length === 0) {
        throw new UsageError(
          'There is no signing key to verify wakes. Subscribe with this command:  rouse listen --subscribe SENT_TO_ME\n' +
            '  Or give the key that `rouse sub add` printed:       rouse listen --signing-key-file <file>',
        )
      }
      const path = new URL(`http://127.0.0.1/${options.path.replace(/^\/+/, '')}`).pathname
      const { gateway, print } = connect(io, command)
      const { port, exec, agent, window: windowSeconds } = options
      await listen({ port, path, signingKeys, exec, triggers, agent, windowSeconds }, io, gateway, print)
    })
}

function readSigningKeys({ signingKey, signingKeyFile }: ListenCommandOptions, io: Io): string[] {
  if (signingKey) warnOfFlag(io, '--signing-key', '--signing-key-file or ROUSE_SIGNING_KEY')
  const read = signingKeyFile?.map((file) => readSecret(file, '--signing-key-file', io)) ?? []
  const given = [...(signingKey ?? []), ...read]
  return given.length > 0 ? given : [io.env.ROUSE_SIGNING_KEY ?? ''].filter(Boolean)
}

const execHelp = `The command of --exec reads the wake as JSON on its standard input and has in its environment
ROUSE_EVENT_TYPE, ROUSE_EVENT_ID, ROUSE_LOG_ID, ROUSE_SUBSCRIPTION_ID and, for a task, ROUSE_TASK_ID.
It does not get the secrets of this command (${withheldVariables.join(', ')}), because the text of a wake comes from others.
A command that calls the gateway reads its key from the file that ROUSE_KEY_FILE names.
Standard output has the wakes and the output of the command; with --json only the wakes.`
