import { type Command, Option } from 'commander'
import { UsageError } from '../../client/failure.ts'
import type { BodyOf } from '../../client/gateway-client.ts'
import { triggers } from '../../words/events.ts'
import { type Priority, priorities } from '../../words/policies.ts'
import { type ChosenTarget, chosenTargets, coalesceWindowMax } from '../../words/targets.ts'
import { retryTime } from './key-options.ts'
import { collect, integer } from './option-values.ts'

/** The triggers, for help texts. */
export const triggerList = triggers.join(', ')

/** The filters of a subscription, and the target of its wakes. */
export interface SelectionOptions {
  targetUrl?: string
  urlTarget?: string
  target?: ChosenTarget
  window?: number
  coalesceMode?: 'leading' | 'window'
  leading?: true
  maxInFlight?: number
  includeOwn?: boolean
  retryFor?: number
  probe?: boolean
  priority?: Priority
  concept?: string[]
  sender?: string[]
  inReplyTo?: string[]
}

type NewSubscription = BodyOf<'POST /v1/wake-subscriptions'>
type Metadata = NonNullable<NewSubscription['harnessTargetMetadata']>
export type Filters = NonNullable<NewSubscription['filters']>

export function addTargetOptions(command: Command, defaults: { target: string; window: string }): Command {
  return command
    .option('--target-url <url>', 'the URL of the webhook')
    .addOption(new Option('--url-target <url>').hideHelp())
    .addOption(new Option('--target <kind>', `how wakes travel${defaults.target}`).choices(chosenTargets))
    .option(
      '--window <seconds>',
      `how long events are collected into one digest; 0 = each is sent at once${defaults.window}`,
      integer(0, coalesceWindowMax),
    )
    .addOption(
      new Option(
        '--coalesce-mode <mode>',
        'leading: the first event of a quiet time is sent at once; window: it waits too',
      ).choices(['leading', 'window']),
    )
    .option('--leading', 'the same as --coalesce-mode leading')
    .option('--max-in-flight <n>', 'how many wakes are on their way at a time', integer(1, 64))
    .option('--include-own', "also wake for the agent's own acts")
    .option(
      '--retry-for <time>',
      'how long a receiver that is away is tried again, up to 3d, for example 12h; 0s = 1, 2 and 4 s',
      retryTime,
    )
    .option('--probe', 'while its webhook is degraded, try it until it is back; the default')
    .option('--no-probe', 'leave it alone while it is degraded')
}

export function addFilterOptions(command: Command): Command {
  return command
    .addOption(new Option('--priority <priority>', 'only mail of this priority').choices(priorities))
    .option('--concept <concept>', 'only mail with this tagged concept; repeatable', collect)
    .option('--sender <handle>', 'only mail and changes of this sender; repeatable', collect)
    .option('--in-reply-to <messageId>', 'only replies to this message; repeatable', collect)
}

/** The filters that were given; undefined without any. */
export function filtersOf({ concept, priority, sender, inReplyTo }: SelectionOptions): Filters | undefined {
  return present({ taggedConcepts: concept, priority, senderFilter: sender, inReplyToFilter: inReplyTo })
}

/** The metadata that was given; undefined without any. Errors: a mode that contradicts itself. */
export function metadataOf(options: SelectionOptions): Metadata | undefined {
  const { leading, coalesceMode = leading && 'leading', maxInFlight, includeOwn, retryFor, probe } = options
  if (leading && coalesceMode !== 'leading') throw new UsageError('--leading and --coalesce-mode window contradict.')
  return present({
    url: options.targetUrl ?? options.urlTarget,
    coalesceWindow: options.window,
    coalesceMode,
    maxInFlight,
    includeOwn,
    retryForSeconds: retryFor,
    probe,
  })
}

function present<Fields extends object>(fields: Fields): Fields | undefined {
  return Object.values(fields).some((value) => value !== undefined) ? fields : undefined
}
