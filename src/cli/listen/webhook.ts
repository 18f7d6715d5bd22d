import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { readOverlaps } from '../../client/overlaps.ts'
import type { Printer } from '../../client/printer.ts'
import { plain } from '../../client/terminal-text.ts'
import type { Wake } from '../../client/wakes/wake.ts'
import { runWakeCommand } from '../../client/wakes/wake-command.ts'
import { untilAborted } from '../../lib/until-aborted.ts'
import type { Trigger } from '../../words/events.ts'
import { commandOutput } from './command-output.ts'
import { createSeenWakes } from './seen-wakes.ts'
import { noteGap } from './stream.ts'
import { wakeLine } from './wake-line.ts'
import { WakeReceiver } from './webhook-receiver.ts'
import { addOwnSubscriptions, type OwnSubscription, removeOwnSubscriptions } from './webhook-subscriptions.ts'

/** Handles wakes one at a time, in the order of their arrival. */
class WakeQueue {
  readonly #handle: (wake: Wake) => Promise<void>
  readonly #waiting: Wake[] = []
  #running: Promise<void> | undefined
  #stopped = false

  constructor(handle: (wake: Wake) => Promise<void>) {
    this.#handle = handle
  }

  add(wake: Wake): void {
    this.#waiting.push(wake)
    this.#running ??= this.#run()
  }

  /** Waits for the running one, and returns those that never ran. */
  async stop(): Promise<readonly Wake[]> {
    this.#stopped = true
    await this.#running
    return this.#waiting
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const wake = this.#waiting.shift()
      if (!wake) break
      await this.#handle(wake)
    }
    this.#running = undefined
  }
}

interface WebhookOptions {
  port: number
  path: string
  signingKeys: readonly string[]
  /** The command to run for each wake. */
  exec?: string
  /** The triggers to subscribe to until it stops. */
  triggers: readonly Trigger[]
  /** The agent that is woken, with the operator's key. */
  agent?: string
  windowSeconds: number
}

/** Receives wakes as webhooks until the signal aborts; then throws the signal's reason. */
export async function listenOnWebhook(
  options: WebhookOptions,
  io: Io,
  gateway: GatewayClient,
  print: Printer,
): Promise<void> {
  const queue = new WakeQueue((wake) => handle(wake, options, io, print))
  const keys = deferred<readonly string[]>()
  const receiver = new WakeReceiver({
    port: options.port,
    path: options.path,
    keys: keys.promise,
    onWake: acceptOnce(queue, print),
    onRefused: (reason) => print.note(`Refused a request with a wrong signature (${reason}).`),
  })
  const url = await startReceiver(receiver, options.port)
  let own: OwnSubscription[] = []
  try {
    own = await addOwnSubscriptions(gateway, { ...options, url })
    keys.resolve([...options.signingKeys, ...own.map((subscription) => subscription.signingKey)])
    print.note(`Listening on ${url} (Ctrl-C stops)`)
    for (const [i, { subscriptionId }] of own.entries()) {
      print.note(`Subscribed to ${options.triggers[i]} as ${plain(subscriptionId)}, until this stops`)
    }
    const ids = options.exec === undefined ? [] : own.map(({ subscriptionId }) => subscriptionId)
    for (const text of await readOverlaps(gateway, ids)) print.note(`Two turns for one mail: ${text}`)
    await untilAborted(io.signal)
  } finally {
    const stopped = queue.stop()
    // The receiver answers until the gateway stops sending: a refused connection counts against a subscription.
    const left = await removeOwnSubscriptions(gateway, own)
    for (const id of left) print.note(`Could not remove ${plain(id)}; do it with: rouse sub rm ${plain(id)}`)
    keys.resolve([])
    await receiver.stop()
    reportUnhandled(await stopped, print)
  }
  io.signal?.throwIfAborted()
}

function acceptOnce(queue: WakeQueue, print: Printer): (wake: Wake) => void {
  const seen = createSeenWakes()
  return (wake) => {
    const gap = seen.gapBefore(wake)
    if (!seen.add(wake)) return
    if (gap !== undefined) noteGap(wake, gap, print)
    queue.add(wake)
  }
}

async function handle(wake: Wake, { exec }: WebhookOptions, io: Io, print: Printer): Promise<void> {
  print.item(wake, () => wakeLine(io, wake))
  if (!exec) return
  await runWakeCommand(wake, {
    command: exec,
    env: io.env,
    ...commandOutput(io, print),
    signal: io.signal,
  })
}

async function startReceiver(receiver: WakeReceiver, port: number): Promise<string> {
  try {
    return await receiver.start()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    throw new Error(`Port ${port} is taken. Choose another one with --port (0 = any free one).`, { cause: error })
  }
}

function reportUnhandled(wakes: readonly Wake[], print: Printer): void {
  const first = wakes[0]
  if (!first) return
  const from = `${plain(first.eventType)} #${plain(first.logId)}`
  print.note(`Wakes that arrived and were not handled: ${wakes.length}, from ${from} on.`)
}

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
