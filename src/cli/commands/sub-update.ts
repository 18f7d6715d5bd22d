import { type Command, Option } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import { UsageError } from '../failure.ts'
import type { Io } from '../io.ts'
import { integer } from '../option-values.ts'
import { paint, plain } from '../terminal-text.ts'

interface SubUpdateOptions {
  status?: 'active' | 'paused'
  rotateKey?: true
  overlap?: number
  targetUrl?: string
  urlTarget?: string
  window?: number
}

export function registerSubUpdate(parent: Command, io: Io): void {
  clientCommand(parent, 'update <id>', 'pause or resume a subscription, change its target or its signing key', [
    'rouse sub update WAKE_SUB:… --status active               # resume after a pause or an outage',
    'rouse sub update WAKE_SUB:… --rotate-key --overlap 3600   # both keys sign for an hour',
  ])
    .addOption(new Option('--status <status>', 'active or paused').choices(['active', 'paused']))
    .option('--rotate-key', 'make a new signing key; prints it once')
    .option('--overlap <seconds>', 'how long the old key signs too', integer(0, 604_800))
    .option('--target-url <url>', 'the URL of the webhook')
    .addOption(new Option('--url-target <url>').hideHelp())
    .option(
      '--window <seconds>',
      'how long events are collected into one digest; 0 = each is sent at once',
      integer(0, 300),
    )
    .action(async (id: string, options: SubUpdateOptions, command: Command) => {
      if (options.overlap !== undefined && !options.rotateKey) throw new UsageError('--overlap goes with --rotate-key.')
      const body = bodyOf(options)
      if (Object.values(body).every((value) => value === undefined)) {
        throw new UsageError('Nothing to change: give --status, --rotate-key, --target-url or --window.')
      }
      const { gateway, print } = connect(io, command)
      const answer = await gateway.call('PATCH /v1/wake-subscriptions/:id', { params: { id }, body })
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
  const url = options.targetUrl ?? options.urlTarget
  const metadata = { url, coalesceWindow: options.window }
  return {
    status: options.status,
    rotateSigningKey: options.rotateKey,
    overlapSeconds: options.overlap,
    harnessTargetMetadata: url === undefined && options.window === undefined ? undefined : metadata,
  }
}
