import { type Command, Option } from 'commander'
import { type Trigger, triggers } from '../../log/event.ts'
import { type Priority, priorities } from '../../registry/agents/agent.ts'
import { clientCommand, connect } from '../client-command.ts'
import { UsageError } from '../failure.ts'
import type { Io } from '../io.ts'
import { collect, integer, trigger } from '../option-values.ts'
import { paint, plain } from '../terminal-text.ts'

interface SubAddOptions {
  trigger: Trigger
  agent?: string
  targetUrl?: string
  urlTarget?: string
  window?: number
  priority?: Priority
  concept?: string[]
  sender?: string[]
  inReplyTo?: string[]
}

export function registerSubAdd(parent: Command, io: Io): void {
  clientCommand(parent, 'add', 'make a wake subscription for the agent of the key; prints the signing key once', [
    'rouse sub add --trigger SENT_TO_ME --target-url https://donna.example/wake',
    'rouse sub add --trigger TASK_STATE_CHANGED --target-url http://127.0.0.1:8080/ --window 0 --sender @boss',
  ])
    .requiredOption('--trigger <trigger>', `one of ${triggers.join(', ')}`, trigger)
    .option('--target-url <url>', 'the URL of the webhook')
    .addOption(new Option('--url-target <url>').hideHelp())
    .option(
      '--window <seconds>',
      'how long events are collected into one digest; 0 = each is sent at once (default: 30)',
      integer(0, 300),
    )
    .addOption(new Option('--priority <priority>', 'only mail of this priority').choices(priorities))
    .option('--agent <handle>', "the agent to wake; needs the operator's key (default: the agent of the key)")
    .option('--concept <concept>', 'only mail with this tagged concept; repeatable', collect)
    .option('--sender <handle>', 'only mail and changes of this sender; repeatable', collect)
    .option('--in-reply-to <messageId>', 'only replies to this message; repeatable', collect)
    .action(async (options: SubAddOptions, command: Command) => {
      const url = options.targetUrl ?? options.urlTarget
      if (!url)
        throw new UsageError(
          'Give the webhook with --target-url <url>. To try it without a webhook, see: rouse listen --help',
        )
      const { gateway, print } = connect(io, command)
      const answer = await gateway.call('POST /v1/wake-subscriptions', {
        body: {
          trigger: options.trigger,
          agentIdentity: options.agent,
          filters: filtersOf(options),
          harnessTarget: 'a2a-webhook',
          harnessTargetMetadata: { url, coalesceWindow: options.window },
        },
      })
      const id = plain(answer.subscriptionId)
      print.result(
        answer,
        () => `${id} is active.\n${signingKeyText(io, answer.signingKey)}Try it: rouse sub test ${id}\n`,
      )
    })
}

/** Only the owner of a subscription and the operator learn its key. */
function signingKeyText(io: Io, key: string | undefined): string {
  if (key === undefined) return 'Its owner gets the signing key with: rouse sub update --rotate-key\n'
  return (
    `signing key: ${paint(io, 'bold', plain(key))}\n` +
    'Keep this key: it is shown only now. Your webhook verifies each wake with it.\n'
  )
}

function filtersOf(options: SubAddOptions) {
  const filters = {
    taggedConcepts: options.concept,
    priority: options.priority,
    senderFilter: options.sender,
    inReplyToFilter: options.inReplyTo,
  }
  return Object.values(filters).some((value) => value !== undefined) ? filters : undefined
}
