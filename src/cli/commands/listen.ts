import { type Command, Option } from 'commander'
import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { withheldVariables } from '../../client/secret-input.ts'
import type { Trigger } from '../../words/events.ts'
import { coalesceWindowMax, retryForOfPrograms } from '../../words/targets.ts'
import { ownIds } from '../ids/own-ids.ts'
import { listenOnStream } from '../listen/stream.ts'
import { retryTime } from '../options/key-options.ts'
import { collect, collectTrigger, integer } from '../options/option-values.ts'
import { clientCommand, connect } from '../run/client-command.ts'

interface ListenCommandOptions {
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
    .addHelpText('after', `\n${execHelp}`)
    .action(async (options: ListenCommandOptions, command: Command) => {
      const { gateway, print } = connect(io, command)
      const { exec, agent, window: windowSeconds, concurrency } = options
      const triggers = [...new Set(options.subscribe)]
      const { notify = false } = options
      if (notify && exec !== undefined) throw new UsageError('--notify runs no command: leave it or the command out.')
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

const execHelp = `The command of --exec reads JSON on its standard input: the wake, and the messages and tasks that it is about. Its
environment has ROUSE_TEXT (what a model reads: who wrote it, and the text of the message or task), ROUSE_FROM, ROUSE_SUBJECT,
ROUSE_TASK_ID, ROUSE_MESSAGE_ID, ROUSE_THREAD_ID, ROUSE_AGENT, ROUSE_EVENT_TYPE, ROUSE_EVENT_ID, ROUSE_LOG_ID, ROUSE_SUBSCRIPTION_ID, and ROUSE_URL and ROUSE_KEY, with
which it calls the gateway as the agent. Other secrets of this command (${withheldVariables.filter((name) => name !== 'ROUSE_KEY').join(', ')}) are withheld.
A command that ends with another code than 0 has failed: its wake comes again. Texts come from other agents: pass
them on as standard input, and not as an argument, which a program may take for an option.
With --json standard output has only the wakes, else the output of the command too.`
