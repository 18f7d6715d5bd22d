import { otherWriters } from '../../bridge/run/other-writers.ts'
import { sendersOf } from '../../bridge/run/senders-of.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import type { Printer } from '../../client/printer.ts'
import { plain } from '../../client/terminal-text.ts'
import { accessOf, type CommandAccess } from '../../client/wakes/command-access.ts'
import { failTasks, whyFailed } from '../../client/wakes/fail-tasks.ts'
import { isOver, partsOf } from '../../client/wakes/parts.ts'
import { Recovery, type RecoveryTimes } from '../../client/wakes/recovery.ts'
import { type StreamItem, streamedWakes } from '../../client/wakes/streamed-wakes.ts'
import { type Wake, wakeLine } from '../../client/wakes/wake.ts'
import { runWakeCommand } from '../../client/wakes/wake-command.ts'
import { readWakeContext, type WakeContext } from '../../client/wakes/wake-context.ts'
import { systemClock } from '../../lib/clock.ts'
import { commandOutput } from './command-output.ts'
import { noticeOf, showNotice } from './desktop.ts'
import { createSeenWakes } from './seen-wakes.ts'
import { giveBack, removeStreams, type StreamSubscriptionOptions, streamSubscriptions } from './stream-subscriptions.ts'
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
  const handling = { options, access, io, gateway, print }
  const work = new WakeWork(gateway, {
    concurrency: options.concurrency,
    work: (wake, failures) => handle(wake, handling, failures),
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

interface Handling {
  readonly options: StreamListenOptions
  readonly access: CommandAccess | undefined
  readonly io: Io
  readonly gateway: GatewayClient
  readonly print: Printer
}

async function handle(wake: Wake, handling: Handling, failures: number): Promise<Outcome> {
  const { options, io, print } = handling
  print.item(wake, () => wakeLine(wake))
  if (options.notify) return notify(wake, io, print)
  if (options.exec === undefined) return { step: 'delivered' }
  const parts = partsOf(wake)
  // A digest that has failed before is not run as a whole again: some of its parts are tried.
  const whole = failures === 0 || parts.length === 0 ? await run(wake, options.exec, handling) : undefined
  if (parts.length === 0 || whole?.step === 'delivered' || io.signal?.aborted) return whole ?? stopped
  return runParts(parts, options.exec, handling, failures)
}

/** A command that fails for two parts, and has worked for none, is at fault itself: the other parts wait. */
const failedPartsMax = 2
const stopped: Outcome = { step: 'failed', detail: 'it was stopped' }

/** Runs the command for each part of a digest alone, each time beginning with others, so that no part can end or delay another. */
async function runParts(parts: Wake[], exec: string, handling: Handling, failures: number): Promise<Outcome> {
  const first = (failures * failedPartsMax) % parts.length
  const left: { wake: Wake; failure: Extract<Outcome, { step: 'failed' }> }[] = []
  let worked = 0
  for (const part of [...parts.slice(first), ...parts.slice(0, first)]) {
    const outcome = await run(part, exec, handling, true)
    if (handling.io.signal?.aborted) return stopped
    if (outcome === undefined) continue
    if (outcome.step === 'delivered') worked++
    else left.push({ wake: part, failure: outcome })
    if (worked === 0 && left.length === failedPartsMax) {
      const givenUp = async () => {
        for (const { failure } of left) await failure.givenUp?.()
      }
      return { ...left[0]!.failure, givenUp }
    }
  }
  return { step: 'delivered', left }
}

/** Runs the command for one wake. undefined: of a part whose tasks are over nothing is left to do. */
async function run(wake: Wake, exec: string, handling: Handling): Promise<Outcome>
async function run(wake: Wake, exec: string, handling: Handling, isPart: true): Promise<Outcome | undefined>
async function run(
  wake: Wake,
  exec: string,
  { options, access, io, gateway, print }: Handling,
  isPart = false,
): Promise<Outcome | undefined> {
  const context = await readWakeContext(gateway, wake)
  if (isPart && isOver(context)) return undefined
  const { failure, lastLine } = await runWakeCommand(wake, {
    command: exec,
    env: io.env,
    access,
    context,
    timeoutMs: options.timeoutMs,
    ...commandOutput(io, print),
    signal: io.signal,
  })
  if (failure === undefined) return { step: 'delivered' }
  const detail = `${failure}${lastLine === '' ? '' : `: ${lastLine}`}${subjectOf(wake, context)}`
  const givenUp = async () => {
    const failed = await failTasks(gateway, wake.agentIdentity, context, whyFailed(failure, lastLine)).catch(noteError)
    for (const id of failed) print.note(`Task ${plain(id)} is failed now, and says why (--on-failure keep leaves it).`)
  }
  const noteError = ({ message }: Error): string[] => {
    print.note(`Its task was not moved: ${plain(message)}`)
    return []
  }
  // The tasks of a digest are failed one by one, where the command was run for each.
  const mayFail = options.onFailure === 'fail' && partsOf(wake).length === 0
  return { step: 'failed', detail, ...(mayFail ? { givenUp } : {}) }
}

/** ` (task 0b6f… from @olga)`: whose text it is. Of a digest that has several nothing is said. Pure. */
function subjectOf(wake: Wake, { messages: [message], tasks: [task] }: WakeContext): string {
  const id = task ? `task ${task.id}` : message?.messageId
  const from = message?.from ?? task?.originator
  return id === undefined || partsOf(wake).length > 0 ? '' : ` (${plain(id)} from ${plain(from)})`
}

/** The agents whose mail waits for a wake to end: others than those who wrote what it is about. */
async function othersWaiting(gateway: GatewayClient, wake: Wake): Promise<readonly string[]> {
  const { signal } = new AbortController()
  return otherWriters(gateway, wake.agentIdentity ?? '', wake, await sendersOf(gateway, wake, signal), signal)
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

function noteGap({ subscriptionId }: Wake, gap: number, print: Printer): void {
  print.note(`Wakes are missing before this one: rouse sub resync ${plain(subscriptionId)} --since ${gap}`)
}

/** Tells the user once that a command fails and its wake comes again, and when it is over. */
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
