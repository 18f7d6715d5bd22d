import { type Command, Option } from 'commander'
import type { Trigger } from '../../log/event.ts'
import { clientCommand, connect } from '../client-command.ts'
import { UsageError } from '../failure.ts'
import type { Io } from '../io.ts'
import { collect, integer, trigger } from '../option-values.ts'
import { paint, plain } from '../terminal-text.ts'

interface SubAddOptions {
  trigger: Trigger
  agent?: string
  urlTarget?: string
  targetUrl?: string
  window?: number
  priority?: string
  concept?: string[]
  sender?: string[]
  inReplyTo?: string[]
}

export function registerSubAdd(parent: Command, io: Io): void {
  clientCommand(parent, 'add', "subscribe the key's agent to its wakes; prints the signing key once", [
    'rouse sub add --trigger SENT_TO_ME --url-target https://donna.example/wake',
    'rouse sub add --trigger TASK_STATE_CHANGED --url-target http://127.0.0.1:8080/ --window 0 --sender @boss',
  ])
    .requiredOption('--trigger <trigger>', 'SENT_TO_ME, TASK_STATE_CHANGED or PERMISSION_GRANTED', trigger)
    .option('--url-target <url>', 'the webhook that is called')
    .addOption(new Option('--target-url <url>').hideHelp())
    .option(
      '--window <seconds>',
      'gather events for so long into one digest; 0 = at once (default: 30)',
      integer(0, 300),
    )
    .addOption(new Option('--priority <priority>', 'only mail of this priority').choices(['high', 'normal', 'low']))
    .option('--agent <handle>', "whose wakes, when the key is the operator's (default: the key's agent)")
    .option('--concept <concept>', 'only mail tagged with this; repeatable', collect)
    .option('--sender <handle>', 'only from this sender; repeatable', collect)
    .option('--in-reply-to <messageId>', 'only replies to this message; repeatable', collect)
    .action(async (options: SubAddOptions, command: Command) => {
      const url = options.urlTarget ?? options.targetUrl
      if (!url)
        throw new UsageError('Give the webhook with --url-target <url>. Just trying it out? See: rouse listen --help')
      const { gateway, print } = connect(io, command)
      const answer = await gateway.call<{ subscriptionId: string; signingKey?: string }>(
        'POST',
        '/v1/wake-subscriptions',
        {
          body: {
            trigger: options.trigger,
            agentIdentity: options.agent,
            filters: filtersOf(options),
            harnessTarget: 'a2a-webhook',
            harnessTargetMetadata: { url, coalesceWindow: options.window },
          },
        },
      )
      const id = plain(answer.subscriptionId)
      print.result(
        answer,
        () =>
          `${id} is active.\nsigning key: ${paint(io, 'bold', plain(answer.signingKey))}\n` +
          `Keep this key: it is shown only now. Your webhook verifies each wake with it.\nTry it: rouse sub test ${id}\n`,
      )
    })
}

function filtersOf(options: SubAddOptions): object | undefined {
  const filters = {
    taggedConcepts: options.concept,
    priority: options.priority,
    senderFilter: options.sender,
    inReplyToFilter: options.inReplyTo,
  }
  return Object.values(filters).some((value) => value !== undefined) ? filters : undefined
}
