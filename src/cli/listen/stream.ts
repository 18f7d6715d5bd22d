import { otherWriters } from '../../bridge/run/other-writers.ts'
import { sendersOf } from '../../bridge/run/senders-of.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { readOverlaps } from '../../client/overlaps.ts'
import type { Printer } from '../../client/printer.ts'
import { plain } from '../../client/terminal-text.ts'
import { accessOf } from '../../client/wakes/command-access.ts'
import { Recovery, type RecoveryTimes } from '../../client/wakes/recovery.ts'
import { type StreamItem, streamedWakes } from '../../client/wakes/streamed-wakes.ts'
import type { Wake } from '../../client/wakes/wake.ts'
import { systemClock } from '../../lib/clock.ts'
import { readNotice, showNotice } from './desktop.ts'
import { runCommand } from './run-command.ts'
import { createSeenWakes } from './seen-wakes.ts'
import { giveBack, removeStreams, type StreamSubscriptionOptions, streamSubscriptions } from './stream-subscriptions.ts'
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
  const { exec, notify: isNotice } = options
  const work = new WakeWork(gateway, {
    concurrency: options.concurrency,
    work: async (wake, failures) => {
      print.item(wake, () => wakeLine(io, wake))
      if (isNotice) return notify(wake, io, gateway, print)
      return exec ? runCommand(wake, failures, { ...options, exec, access, io, gateway, print }) : { step: 'delivered' }
    },
    noteFate: fateNotes(print, options.retryForSeconds),
    delaysOthers: async (wake) => (await othersWaiting(gateway, wake)).length > 0,
    retryForMs: options.retryForSeconds * 1_000,
  })
  const over = new AbortController()
  const { note } = print
  const recovery = new Recovery({ gateway, now: systemClock.now, note, times: options.recoveryTimes })
  const recovering = recovery.run(subscriptionIds, over.signal)
  const seen = createSeenWakes()
  try {
    for (const { id, trigger, isNew } of own) {
      print.note(`${isNew ? 'Subscribed' : 'Goes on with the subscription'} to ${trigger} as ${plain(id)}`)
    }
    for (const text of options.exec === undefined ? [] : await readOverlaps(gateway, subscriptionIds)) {
      print.note(`Two turns for one mail: ${text}`)
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
    for (const wake of options.isTemporary ? [] : work.aside) await giveBack(gateway, wake).catch(lost(wake))
    const left = options.isTemporary
      ? await removeStreams(
          gateway,
          own.map(({ id }) => id),
        )
      : []
    for (const id of left) print.note(`Could not remove ${plain(id)}; do it with: rouse sub rm ${plain(id)}`)
  }

  function lost({ eventId }: Wake) {
    return ({ message }: Error) =>
      print.note(
        `Wake ${plain(eventId)} failed here, and does not come again (${plain(message)}): rouse inbox --unread`,
      )
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

/** The agents whose mail waits for a wake to end: others than those who wrote what it is about. */
async function othersWaiting(gateway: GatewayClient, wake: Wake): Promise<readonly string[]> {
  const { signal } = new AbortController()
  return otherWriters(gateway, wake.agentIdentity ?? '', wake, await sendersOf(gateway, wake, signal), signal)
}

/** A notification that nobody could see comes again. */
async function notify(wake: Wake, io: Io, gateway: GatewayClient, print: Printer): Promise<Outcome> {
  const notice = await readNotice(wake, gateway)
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

function noteGap({ subscriptionId }: Wake, gap: number, print: Printer): void {
  print.note(`Wakes are missing before this one: rouse sub resync ${plain(subscriptionId)} --since ${gap}`)
}

/** Reports to the user once that a command fails and its wake comes again, and when it is over. */
function fateNotes(
  print: Pick<Printer, 'note'>,
  retryForSeconds: number,
): (wake: Wake, fate: Fate, detail?: string) => void {
  const failing = new Set<string>()
  const howLong =
    retryForSeconds === 0
      ? 'after 1, 2 and 4 s'
      : `ever more rarely, for up to ${duration(retryForSeconds)} (--retry-for)`
  return ({ eventId }, fate, detail) => {
    const isKnown = failing.has(eventId)
    if (fate === 'aside') {
      failing.add(eventId)
      print.note(`Wake ${plain(eventId)} fails (${plain(detail)}): it is tried again alone, and the next one is tried.`)
      return
    }
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
