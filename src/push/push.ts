import { createHash } from 'node:crypto'
import { Semaphores } from '../lib/semaphores.ts'
import type { Base } from '../log/core.ts'
import type { RaisedNeed } from '../needs/need-sweep.ts'
import { OutboundError } from '../security/outbound-error.ts'
import type { OutboundFetch } from '../security/outbound-fetch.ts'
import { afterSend, type SendResult } from './after-send.ts'
import { type Notification, notificationOf } from './notification.ts'
import { claimDevice, finishSend, listDueDevices, type PushDevice, removeDevice } from './push-store.ts'
import type { VapidKeys } from './vapid.ts'

/** Sends of this gateway at the same time. */
const room = { max: 16, queued: Number.POSITIVE_INFINITY }
/** The devices of a project that one look finds. The rest follow at the next one. */
const devicesMax = 100
/** At least so long from one notification of a device to the next, in ms: what comes meanwhile is in that one. */
const pauseMs = 15_000
/** A gateway that ends within a send has it made again after this time, in ms. */
const claimMs = 60_000
const timeoutMs = 10_000
/** How long a push service keeps a notification for a device that is off. */
const keptSeconds = 12 * 3_600

interface PushParts extends Base {
  readonly outbound: Pick<OutboundFetch, 'post'>
  readonly loadKeys: () => Promise<VapidKeys>
  /** An `https:` or `mailto:` address of whoever runs the gateway. */
  readonly contact: string
}

/** Sends what stops work to the devices of operators. */
export class PushSender implements AsyncDisposable {
  readonly #parts: PushParts
  readonly #places = new Semaphores()
  readonly #running = new Map<string, Promise<void>>()
  readonly #stopping = new AbortController()

  constructor(parts: PushParts) {
    this.#parts = parts
  }

  /** Starts a send to each device of a project that has not had all of these. It does not wait for them. `raised`: the most urgent first. */
  async notify(projectId: string, raised: readonly RaisedNeed[]): Promise<void> {
    const { db, clock, log } = this.#parts
    for (const device of await listDueDevices(db, { projectId, now: clock.now(), limit: devicesMax })) {
      const news = raised.filter(({ raisedLogId }) => raisedLogId > device.cursorLogId)
      if (news.length === 0 || this.#running.has(device.id)) continue
      const running = this.#send(device, news)
        .catch((err: unknown) => log.error({ err, pushId: device.id }, 'push.failed'))
        .finally(() => this.#running.delete(device.id))
      this.#running.set(device.id, running)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#running.values())
  }

  async #send(device: PushDevice, news: readonly RaisedNeed[]): Promise<void> {
    const { db, clock, log } = this.#parts
    const leave = await this.#places.enter('', room)
    try {
      const now = clock.now()
      const isOver = device.expiresAt !== null && device.expiresAt <= now
      if (isOver) await db.transaction((tx) => removeDevice(tx, device.id, device.keyId))
      const claimed = now + claimMs
      if (isOver || this.#stopping.signal.aborted) return
      if (!(await db.transaction((tx) => claimDevice(tx, device, claimed)))) return
      const result = await this.#post(device, notificationOf(await news[0]!.load(), news.length - 1))
      const next = afterSend(result, device.tries)
      const facts = { pushId: device.id, project: device.projectId, service: new URL(device.endpoint).host, ...result }
      if (next.step === 'gone') log.info(facts, 'push.subscription_gone')
      if (next.step === 'dropped') log.warn(facts, 'push.dropped')
      await db.transaction(async (tx) => {
        if (next.step === 'gone') return void (await removeDevice(tx, device.id, device.keyId))
        const isAgain = next.step === 'again'
        const dueAt = clock.now() + (isAgain ? next.waitMs : pauseMs)
        const newest = Math.max(...news.map(({ raisedLogId }) => raisedLogId))
        const cursorLogId = isAgain ? device.cursorLogId : newest
        await finishSend(tx, { id: device.id, claimed, dueAt, cursorLogId, tries: isAgain ? device.tries + 1 : 0 })
      })
    } finally {
      leave?.()
    }
  }

  async #post({ projectId, endpoint, p256dh, auth }: PushDevice, notification: Notification): Promise<SendResult> {
    const { outbound, loadKeys, contact } = this.#parts
    // The library is loaded where something is sent.
    const { default: webPush } = await import('web-push')
    const vapidDetails = { subject: contact, ...(await loadKeys()) }
    // A later notification of the same need takes the place of one that the device has not fetched.
    const topic = createHash('sha256').update(notification.need).digest('base64url').slice(0, 32)
    const options = { vapidDetails, topic, TTL: keptSeconds, urgency: 'high', contentEncoding: 'aes128gcm' } as const
    const request = webPush.generateRequestDetails(
      { endpoint, keys: { p256dh, auth } },
      JSON.stringify(notification),
      options,
    )
    const given = Object.entries(request.headers).map(([name, value]) => [name, String(value)])
    const headers = Object.fromEntries(given.filter(([name]) => name !== 'Content-Length')) as Record<string, string>
    const payer = { projectId, agentId: 'operator' }
    try {
      const { signal } = this.#stopping
      const sent = { url: endpoint, headers, body: request.body, payer, timeoutMs, signal, graceMs: 1_000 }
      const { status, retryAfter } = await outbound.post(sent)
      return retryAfter === undefined ? { status } : { status, retryAfter }
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error
      return { failure: error.kind }
    }
  }
}
