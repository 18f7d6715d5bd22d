import type { Clock } from '../../lib/clock.ts'
import type { OutgoingWake } from '../adapter.ts'
import { type AttachedClient, WakeDeclined } from './clients.ts'
import type { MessageOf } from './messages.ts'
import { type BridgeMessage, localLimits } from './protocol.ts'

interface PendingSend {
  readonly sent: Promise<void>
  readonly settle: (failure?: Error) => void
}

/** A client that has attached, at the side of the bridge. */
export class AttachedConnection {
  #client: Omit<AttachedClient, 'send' | 'hasTaken'>
  #isGone = false
  readonly #write: (message: BridgeMessage) => void
  readonly #clock: Clock
  readonly #sending = new Map<string, PendingSend>()
  readonly #asking = new Map<string, (hasWake: boolean | undefined) => void>()

  constructor({ type: _type, ...client }: MessageOf<'attach'>, write: (message: BridgeMessage) => void, clock: Clock) {
    this.#client = client
    this.#write = write
    this.#clock = clock
  }

  get harness() {
    return this.#client.harness
  }

  /** True when it has reported that it does not listen any more. */
  get isOver(): boolean {
    return this.#client.until !== undefined && Date.parse(this.#client.until) <= this.#clock.now()
  }

  /** A snapshot for adapters. It does not change: get it again for later reports. */
  get view(): AttachedClient {
    return { ...this.#client, send: (wake) => this.#send(wake), hasTaken: (wakeId) => this.#ask(wakeId) }
  }

  change({ type: _type, ...changes }: MessageOf<'change'>): void {
    const changed = Object.entries({ ...this.#client, ...changes }).filter(([, value]) => value !== null)
    this.#client = Object.fromEntries(changed) as Omit<AttachedClient, 'send' | 'hasTaken'>
  }

  taken({ wakeId }: MessageOf<'taken'>): void {
    this.#sending.get(wakeId)?.settle()
  }

  declined({ wakeId, reason }: MessageOf<'declined'>): void {
    this.#sending.get(wakeId)?.settle(new WakeDeclined(reason))
  }

  answered({ wakeId, hasWake }: MessageOf<'answer'>): void {
    this.#asking.get(wakeId)?.(hasWake)
  }

  gone(): void {
    this.#isGone = true
    for (const settle of [...this.#asking.values()]) settle(undefined)
    for (const { settle } of [...this.#sending.values()])
      settle(new Error('It has gone before it said that it has the wake.'))
  }

  /** Of two questions at the same time the first is answered. */
  #ask(wakeId: string): Promise<boolean | undefined> {
    if (this.#isGone || this.#client.instance === undefined || this.#asking.has(wakeId))
      return Promise.resolve(undefined)
    return new Promise((resolve) => {
      const cancel = this.#clock.after(localLimits.answerMs, () => settle(undefined))
      const settle = (hasWake: boolean | undefined) => {
        cancel()
        this.#asking.delete(wakeId)
        resolve(hasWake)
      }
      this.#asking.set(wakeId, settle)
      this.#write({ type: 'ask', wakeId })
    })
  }

  #send({ id, text, lines }: OutgoingWake): Promise<void> {
    const open = this.#sending.get(id)
    if (open) return open.sent
    if (this.#isGone) return Promise.reject(new WakeDeclined('it is gone'))
    let settle: PendingSend['settle'] = () => {}
    const sent = new Promise<void>((resolve, reject) => {
      const cancel = this.#clock.after(localLimits.takenMs, () =>
        settle(new Error(`It has not said within ${localLimits.takenMs / 1000} s that it has the wake.`)),
      )
      settle = (failure) => {
        cancel()
        this.#sending.delete(id)
        if (failure) reject(failure)
        else resolve()
      }
    })
    this.#sending.set(id, { sent, settle })
    this.#write({ type: 'wake', wake: { id, text, lines } })
    return sent
  }
}
