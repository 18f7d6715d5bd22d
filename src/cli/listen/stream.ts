import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import type { Printer } from '../../client/printer.ts'
import { plain } from '../../client/terminal-text.ts'
import { accessOf, type CommandAccess } from '../../client/wakes/command-access.ts'
import { failTasks, whyFailed } from '../../client/wakes/fail-tasks.ts'
import { Recovery, type RecoveryTimes } from '../../client/wakes/recovery.ts'
import { type StreamItem, streamedWakes } from '../../client/wakes/streamed-wakes.ts'
import type { Wake } from '../../client/wakes/wake.ts'
import { runWakeCommand } from '../../client/wakes/wake-command.ts'
import { readWakeContext } from '../../client/wakes/wake-context.ts'
import { systemClock } from '../../lib/clock.ts'
import { commandOutput } from './command-output.ts'
import { noticeOf, showNotice } from './desktop.ts'
import { createSeenWakes } from './seen-wakes.ts'
import { removeStreams, type StreamSubscriptionOptions, streamSubscriptions } from './stream-subscriptions.ts'
import { wakeLine } from './wake-line.ts'
import { type Fate, type Outcome, WakeWork } from './wake-work.ts'

interface StreamListenOptions extends StreamSubscriptionOptions {
  /** The command to run for each wake. */
  readonly exec?: string | undefined
  /** Shows each wake on the desktop, instead of running a command. */
  readonly notify?: boolean
  /** How long a command may run. */
  readonly timeoutMs: number
  /** Subscriptions that were made before, instead of its own. */
  readonly subscriptionIds: readonly string[]
  /** Removes its subscriptions at the end. */
  readonly isTemporary: boolean
  /** The fate of the tasks of a wake that was given up. Source: D48. */
  readonly onFailure: 'fail' | 'keep'
  readonly recoveryTimes?: RecoveryTimes
}

/**
 * Fetches wakes over a stream that it opens, until the signal aborts; then throws the signal's reason. A wake is acknowledged when it
 * was printed, or when its command has succeeded.
 */
export async function listenOnStream(
  options: StreamListenOptions,
  io: Io,
  gateway: GatewayClient,
  print: Printer,
): Promise<void> {
  const own = options.subscriptionIds.length > 0 ? [] : await streamSubscriptions(gateway, options)
  const subscriptionIds = [...options.subscriptionIds, ...own.map(({ id }) => id)]
  const access = options.exec === undefined ? undefined : await accessOf(gateway)
  const work = new WakeWork(
    gateway,
    options.concurrency,
    (wake) => handle(wake, { options, access, io, gateway, print }),
    fateNotes(print, options.retryForSeconds),
  )
  const over = new AbortController()
  const { note } = print
  const recovery = new Recovery({ gateway, now: systemClock.now, note, times: options.recoveryTimes })
  const recovering = recovery.run(subscriptionIds, over.signal)
  const seen = createSeenWakes()
  try {
    for (const { id, trigger, isNew } of own) {
      print.note(`${isNew ? 'Subscribed' : 'Goes on with the subscription'} to ${trigger} as ${plain(id)}`)
    }
    // Printing a wake, or starting a process for it, interrupts no harness, whatever its presence.
    const follow = { subscriptionIds, capabilities: ['spawn'], signal: io.signal, note: print.note }
    for await (const item of streamedWakes(gateway, follow)) take(item)
    throw new Error('No subscription is left to read here.')
  } finally {
    over.abort()
    await recovering
    await work.stop()
    const first = work.waiting[0]
    if (first)
      print.note(`Wakes that were not begun: ${work.waiting.length}, from #${plain(first.logId)} on. They come again.`)
    const left = options.isTemporary
      ? await removeStreams(
          gateway,
          own.map(({ id }) => id),
        )
      : []
    for (const id of left) print.note(`Could not remove ${plain(id)}; do it with: rouse sub rm ${plain(id)}`)
  }

  function take(item: StreamItem): void {
    if (item.kind === 'connected') print.note(`Listening to ${plain(gateway.url)} (Ctrl-C stops)`)
    else if (item.kind === 'released') noteRelease(item, print)
    else {
      recovery.arrived()
      const gap = seen.gapBefore(item.wake)
      if (seen.add(item.wake) && gap !== undefined) noteGap(item.wake, gap, print)
      work.add(item.wake)
    }
  }
}

interface Handling {
  readonly options: StreamListenOptions
  readonly access: CommandAccess | undefined
  readonly io: Io
  readonly gateway: GatewayClient
  readonly print: Printer
}

async function handle(wake: Wake, { options, access, io, gateway, print }: Handling): Promise<Outcome> {
  print.item(wake, () => wakeLine(io, wake))
  if (options.notify) return notify(wake, io, print)
  if (options.exec === undefined) return { step: 'delivered' }
  const context = await readWakeContext(gateway, wake)
  const { failure, lastLine } = await runWakeCommand(wake, {
    command: options.exec,
    env: io.env,
    access,
    context,
    timeoutMs: options.timeoutMs,
    ...commandOutput(io, print),
    signal: io.signal,
  })
  if (failure === undefined) return { step: 'delivered' }
  const detail = lastLine === '' ? failure : `${failure}: ${lastLine}`
  const givenUp = async () => {
    const failed = await failTasks(gateway, wake.agentIdentity, context, whyFailed(failure, lastLine)).catch(noteError)
    for (const id of failed) print.note(`Task ${plain(id)} is failed now, and says why (--on-failure keep leaves it).`)
  }
  const noteError = ({ message }: Error): string[] => {
    print.note(`Its task was not moved: ${plain(message)}`)
    return []
  }
  return { step: 'failed', detail, ...(options.onFailure === 'fail' ? { givenUp } : {}) }
}

/** A notification that nobody could see comes again. */
async function notify(wake: Wake, io: Io, print: Printer): Promise<Outcome> {
  const notice = noticeOf(wake)
  try {
    if (notice) await showNotice(notice, io)
    return { step: 'delivered' }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const detail = code === 'ENOENT' ? 'the program for notifications is not installed' : message
    print.note(`No notification: ${plain(detail)}`)
    return { step: 'failed', detail }
  }
}

function noteRelease({ subscriptionId, reason }: { subscriptionId: string; reason: string }, print: Printer): void {
  const why = reason === 'replaced' ? 'a newer stream reads it' : 'it was changed or removed'
  print.note(`${plain(subscriptionId)} is no longer read here: ${why}.`)
}

export function noteGap({ subscriptionId }: Wake, gap: number, print: Printer): void {
  print.note(`Wakes are missing before this one: rouse sub resync ${plain(subscriptionId)} --since ${gap}`)
}

/** Tells the user once that a command fails and its wake comes again, and when it is over. */
function fateNotes(print: Pick<Printer, 'note'>, retryForSeconds: number): (wake: Wake, fate: Fate) => void {
  const failing = new Set<string>()
  const howLong =
    retryForSeconds === 0
      ? 'after 1, 2 and 4 s'
      : `ever more rarely, for up to ${duration(retryForSeconds)} (--retry-for)`
  return ({ eventId }, fate) => {
    const isKnown = failing.has(eventId)
    if (fate === 'again') {
      failing.add(eventId)
      if (!isKnown) print.note(`Wake ${plain(eventId)} comes again: ${howLong}. What comes meanwhile waits.`)
      return
    }
    failing.delete(eventId)
    if (fate === 'given-up')
      print.note(`Wake ${plain(eventId)} is given up. Its mail stays unread: rouse inbox --unread`)
    else if (isKnown) print.note(`Wake ${plain(eventId)}: the command has succeeded now.`)
  }
}

/** `6 hours`, `90 seconds`. Pure. */
function duration(seconds: number): string {
  const [size, name] = seconds % 3_600 === 0 ? [3_600, 'hour'] : seconds % 60 === 0 ? [60, 'minute'] : [1, 'second']
  const count = seconds / size
  return `${count} ${name}${count === 1 ? '' : 's'}`
}
