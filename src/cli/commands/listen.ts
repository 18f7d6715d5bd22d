import { type Command, Option } from 'commander'
import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { readSecret, warnOfFlag, withheldVariables } from '../../client/secret-input.ts'
import type { Trigger } from '../../words/events.ts'
import { coalesceWindowMax, retryForOfPrograms } from '../../words/targets.ts'
import { ownIds } from '../ids/own-ids.ts'
import { listenOnStream } from '../listen/stream.ts'
import { listenOnWebhook } from '../listen/webhook.ts'
import { retryTime } from '../options/key-options.ts'
import { collect, collectTrigger, integer } from '../options/option-values.ts'
import { clientCommand, connect } from '../run/client-command.ts'

interface ListenCommandOptions {
  port?: number
  path?: string
  signingKey?: string[]
  signingKeyFile?: string[]
  exec?: string
  notify?: true
  timeout: number
  concurrency: number
  subscribe?: Trigger[]
  subscription?: string[]
  temporary?: true
  window: number
  retryFor: number
  onFailure: 'fail' | 'keep'
  agent?: string
}

export function registerListen(parent: Command, io: Io): void {
  clientCommand(parent, 'listen', 'receive wakes on this machine, and run a command for each', [
    'rouse listen                                            # mail and tasks of the agent of the key; prints each wake',
    'rouse listen --exec \'printf %s "$ROUSE_TEXT" | claude -p\'   # starts a harness for each wake',
    'rouse listen --exec \'printf %s "$ROUSE_TEXT" | codex exec -\'',
    'rouse listen --exec ./on-wake.sh --concurrency 4        # up to four at the same time',
    'rouse listen --notify                                   # shows on the desktop what waits for a person',
    'rouse listen --port 8080 --signing-key-file donna.whsec # webhooks of a subscription that was made before',
  ])
    .option(
      '--subscribe <trigger>',
      'what to be woken by (default: SENT_TO_ME); repeatable. The subscription stays, and gathers while nobody listens',
      collectTrigger,
    )
    .option(
      '--subscription <id>',
      'read this subscription instead, which was made with --target bridge-daemon; repeatable',
      collect,
    )
    .option('--agent <handle>', "the agent to wake; needs the operator's key")
    .option('--exec <command>', 'run this shell command for each wake; it is acknowledged when the command ends with 0')
    .option('--notify', 'show each on the desktop; without --subscribe: what waits for a person, with an operator key')
    .option('--timeout <seconds>', 'how long the command may run', integer(1, 86_400), 3_600)
    .option('--concurrency <number>', 'how many commands run at the same time', integer(1, 64), 1)
    .option('--window <seconds>', 'how long events are collected into one digest', integer(0, coalesceWindowMax), 0)
    .option(
      '--retry-for <time>',
      'how long a failing command is tried again, at most five minutes apart, up to 3d, for example 12h; 0s = 1, 2 and 4 s',
      retryTime,
      retryForOfPrograms,
    )
    .addOption(
      new Option('--on-failure <act>', 'what becomes of the task of a wake that was given up')
        .choices(['fail', 'keep'])
        .default('fail'),
    )
    .option('--temporary', 'remove the subscription at the end')
    .addOption(
      webhookOption('--port <port>', 'receive webhooks on this port of 127.0.0.1; 0 = any free one').argParser(
        integer(0, 65_535),
      ),
    )
    .addOption(webhookOption('--path <path>', 'the path of the webhook (default: /)'))
    .addOption(
      webhookOption(
        '--signing-key-file <file>',
        'a file with the key that verifies the webhooks; - is standard input (default: $ROUSE_SIGNING_KEY); repeatable, for a rotation',
      ).argParser(collect),
    )
    .addOption(
      new Option('--signing-key <key>', 'the key itself, which every user of this machine can see')
        .argParser(collect)
        .hideHelp(),
    )
    .addHelpText('after', `\n${execHelp}`)
    .action(async (options: ListenCommandOptions, command: Command) => {
      const signingKeys = readSigningKeys(options, io)
      const { gateway, print } = connect(io, command)
      const { exec, agent, window: windowSeconds, concurrency } = options
      const triggers = [...new Set(options.subscribe)]
      const { notify = false } = options
      if (notify && (exec !== undefined || options.port !== undefined || options.path !== undefined)) {
        throw new UsageError('--notify needs a stream, and no --exec: leave --exec, --port and --path out.')
      }
      if (!notify && (signingKeys.length > 0 || options.port !== undefined || options.path !== undefined)) {
        requireVerifiable(signingKeys, triggers)
        const path = new URL(`http://127.0.0.1/${(options.path ?? '/').replace(/^\/+/, '')}`).pathname
        const webhook = { port: options.port ?? 0, path, signingKeys, exec, triggers, agent, windowSeconds }
        return listenOnWebhook(webhook, io, gateway, print)
      }
      const ids = ownIds(gateway)
      const stream = {
        triggers: triggers.length > 0 ? triggers : ([notify ? 'NEED_CHANGED' : 'SENT_TO_ME'] as const),
        subscriptionIds: await Promise.all((options.subscription ?? []).map(ids.subscription)),
        exec,
        notify,
        agent,
        windowSeconds,
        concurrency,
        retryForSeconds: options.retryFor,
        timeoutMs: options.timeout * 1_000,
        isTemporary: options.temporary === true,
        onFailure: options.onFailure,
      }
      await listenOnStream(stream, io, gateway, print)
    })
}

function webhookOption(flags: string, description: string): Option {
  return new Option(flags, description).helpGroup('Webhooks, instead of a stream:')
}

function requireVerifiable(signingKeys: readonly string[], triggers: readonly Trigger[]): void {
  if (signingKeys.length > 0 || triggers.length > 0) return
  throw new UsageError(
    'There is no signing key to verify webhooks. Subscribe with this command:  rouse listen --port 0 --subscribe SENT_TO_ME\n' +
      '  Or give the key that `rouse sub add` printed:          rouse listen --signing-key-file <file>\n' +
      '  Or leave --port out: then no webhook is needed.',
  )
}

function readSigningKeys({ signingKey, signingKeyFile }: ListenCommandOptions, io: Io): string[] {
  if (signingKey) warnOfFlag(io, '--signing-key', '--signing-key-file or ROUSE_SIGNING_KEY')
  const read = signingKeyFile?.map((file) => readSecret(file, '--signing-key-file', io)) ?? []
  const given = [...(signingKey ?? []), ...read]
  return given.length > 0 ? given : [io.env.ROUSE_SIGNING_KEY ?? ''].filter(Boolean)
}

const execHelp = `The command of --exec reads JSON on its standard input: the wake, and the messages and tasks that it is about. Its
environment has ROUSE_TEXT (what a model reads: who wrote it, and the text of the message or task), ROUSE_FROM, ROUSE_SUBJECT,
ROUSE_TASK_ID, ROUSE_MESSAGE_ID, ROUSE_THREAD_ID, ROUSE_AGENT, ROUSE_EVENT_TYPE, ROUSE_EVENT_ID, ROUSE_LOG_ID, ROUSE_SUBSCRIPTION_ID, and ROUSE_URL and ROUSE_KEY, with
which it calls the gateway as the agent. Other secrets of this command (${withheldVariables.filter((name) => name !== 'ROUSE_KEY').join(', ')}) are withheld.
A command that ends with another code than 0 has failed: its wake comes again. Texts come from other agents: pass
them on as standard input, and not as an argument, which a program may take for an option.
With --json standard output has only the wakes, else the output of the command too.`
