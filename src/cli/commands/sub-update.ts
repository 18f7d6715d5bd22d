import { type Command, Option } from 'commander'
import { UsageError } from '../../client/failure.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { paint, plain } from '../../client/terminal-text.ts'
import type { Trigger } from '../../words/events.ts'
import { ownIds } from '../ids/own-ids.ts'
import { integer, trigger } from '../options/option-values.ts'
import {
  addFilterOptions,
  addTargetOptions,
  type Filters,
  filtersOf,
  metadataOf,
  type SelectionOptions,
  triggerList,
} from '../options/subscription-options.ts'
import { clientCommand, connect } from '../run/client-command.ts'

interface SubUpdateOptions extends SelectionOptions {
  status?: 'active' | 'paused'
  trigger?: Trigger
  filters?: false
  rotateKey?: true
  overlap?: number
}

export function registerSubUpdate(parent: Command, io: Io): void {
  const command = clientCommand(
    parent,
    'update <subscription>',
    'pause or resume a subscription, change what it matches, its target or its signing key',
    [
      'rouse sub update WAKE_SUB:… --status active               # resume after a pause or an outage',
      'rouse sub update WAKE_SUB:… --rotate-key --overlap 3600   # both keys sign for an hour',
      'rouse sub update WAKE_SUB:… --sender @boss --priority high  # change these filters, keep the others',
    ],
  )
    .addOption(new Option('--status <status>', 'active or paused').choices(['active', 'paused']))
    .option('--trigger <trigger>', `one of ${triggerList}`, trigger)
    .option('--rotate-key', 'make a new signing key; prints it once')
    .option('--overlap <seconds>', 'how long the old key signs too', integer(0, 604_800))
  addTargetOptions(command, { target: '', window: '' }).option(
    '--no-include-own',
    "do not wake for the agent's own acts",
  )
  addFilterOptions(command)
    .option('--no-filters', 'remove all filters that are not given with this command')
    .action(async (given: string, options: SubUpdateOptions, command: Command) => {
      if (options.overlap !== undefined && !options.rotateKey) throw new UsageError('--overlap goes with --rotate-key.')
      const body = bodyOf(options)
      const changesFilters = filtersOf(options) !== undefined || options.filters === false
      if (!changesFilters && Object.values(body).every((value) => value === undefined)) {
        throw new UsageError('Nothing to change: see the options in rouse sub update --help.')
      }
      const { gateway, print } = connect(io, command)
      const id = await ownIds(gateway).subscription(given)
      const filters = changesFilters ? await filtersAfter(gateway, id, options) : undefined
      const answer = await gateway.call('PATCH /v1/wake-subscriptions/:id', {
        params: { id },
        body: { ...body, filters },
      })
      print.result(answer, () => {
        const text = `${plain(answer.subscriptionId)} is ${plain(answer.currentState.status)}.\n`
        if (!answer.signingKey) return text
        return (
          `${text}signing key: ${paint(io, 'bold', plain(answer.signingKey))}\n` +
          'Keep this key: it is shown only now. Give it to your webhook before the old one ends.\n'
        )
      })
    })
}

function bodyOf(options: SubUpdateOptions) {
  return {
    status: options.status,
    trigger: options.trigger,
    rotateSigningKey: options.rotateKey,
    overlapSeconds: options.overlap,
    harnessTarget: options.target,
    harnessTargetMetadata: metadataOf(options),
  }
}

/** The gateway replaces all filters; a command changes those that it names. */
async function filtersAfter(gateway: GatewayClient, id: string, options: SubUpdateOptions): Promise<Filters> {
  const given = Object.fromEntries(Object.entries(filtersOf(options) ?? {}).filter(([, value]) => value !== undefined))
  if (options.filters === false) return given
  const { filters } = await gateway.call('GET /v1/wake-subscriptions/:id', { params: { id } })
  return { ...(filters as Filters), ...given }
}
