import { type Command, Option } from 'commander'
import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { paint, plain } from '../../client/terminal-text.ts'
import type { Trigger } from '../../words/events.ts'
import { coalesceWindowDefault, targets } from '../../words/targets.ts'
import { ownIds } from '../ids/own-ids.ts'
import { trigger } from '../options/option-values.ts'
import {
  addFilterOptions,
  addTargetOptions,
  filtersOf,
  metadataOf,
  type SelectionOptions,
  triggerList,
} from '../options/subscription-options.ts'
import { waitingText } from '../output/subscription-view.ts'
import { clientCommand, connect } from '../run/client-command.ts'

interface SubAddOptions extends SelectionOptions {
  trigger: Trigger
  agent?: string
  session?: string
  startFrom?: 'now'
}

export function registerSubAdd(parent: Command, io: Io): void {
  const command = clientCommand(
    parent,
    'add',
    'make a wake subscription for the agent of the key; prints the signing key once',
    [
      'rouse sub add --trigger SENT_TO_ME --target-url https://donna.example/wake',
      'rouse sub add --trigger TASK_STATE_CHANGED --target-url http://127.0.0.1:8080/ --window 0 --sender @boss',
      'rouse sub add --trigger SENT_TO_ME --target bridge-daemon --concept release   # then: rouse listen --subscription …',
      'rouse sub add --trigger SENT_TO_ME --target disabled        # wakes nobody; its events are in rouse sub held',
    ],
  ).requiredOption('--trigger <trigger>', `one of ${triggerList}`, trigger)
  addTargetOptions(command, { target: ' (default: a2a-webhook)', window: ' (default: 30)' })
  addFilterOptions(command)
    .option('--agent <handle>', "the agent to wake; needs the operator's key (default: the agent of the key)")
    .addOption(
      new Option('--start-from <point>', 'now: leave out the mail and the tasks that wait already').choices(['now']),
    )
    .option('--session <id>', 'the live session that it belongs to: when that ends, it is paused')
    .action(async (options: SubAddOptions, command: Command) => {
      const metadata = metadataOf(options)
      const { target = 'a2a-webhook' } = options
      if (target === 'a2a-webhook' && metadata?.url === undefined) {
        throw new UsageError(
          'Give the webhook with --target-url <url>, or another --target. To try it without a webhook: rouse listen --help',
        )
      }
      const { gateway, print } = connect(io, command)
      const answer = await gateway.call('POST /v1/wake-subscriptions', {
        body: {
          trigger: options.trigger,
          agentIdentity: options.agent,
          filters: filtersOf(options),
          harnessTarget: target,
          harnessTargetMetadata: metadata,
          startFrom: options.startFrom,
          sessionId: options.session && (await ownIds(gateway).session(options.session)),
        },
      })
      const id = plain(answer.subscriptionId)
      const key = targets[target].isSigned ? signingKeyText(io, answer.signingKey) : ''
      const test = target === 'a2a-webhook' ? `Try it: rouse sub test ${id}\n` : ''
      print.result(answer, () => `${id} is made.\n${key}${whenText(id, options)}\n${test}`)
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

/** When the first wake comes, and what follows it. Source: D3, D25, D28, D29. */
function whenText(id: string, options: SubAddOptions): string {
  const text = firstEventText(id, options)
  const isSent = targets[options.target ?? 'a2a-webhook'].route !== 'none'
  return isSent && options.startFrom === undefined ? `${text}\nWhat waits already comes first, as one digest.` : text
}

function firstEventText(id: string, options: SubAddOptions): string {
  const { target = 'a2a-webhook', window = coalesceWindowDefault, coalesceMode = 'leading' } = options
  if (target === 'disabled' || target === 'none') return 'It wakes nobody: rouse sub held lists what it matched.'
  if (target === 'bridge-daemon') return waitingText(id)
  if (target !== 'a2a-webhook') return 'The first wake comes when something that receives it has connected.'
  if (window === 0) return 'Each event is sent at once, from now on.'
  return coalesceMode === 'window'
    ? `The first wake comes ${window} s after its event, as one digest with all others of that time. --window 0 sends each at once.`
    : `The first wake comes at once; what follows within ${window} s is one digest. --window 0 sends each at once.`
}
