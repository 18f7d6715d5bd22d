import { OutboundError } from '../../src/security/outbound-error.ts'
import type { OutboundFetch, OutboundRequest, OutboundResponse } from '../../src/security/outbound-fetch.ts'
import type { Chance } from './chance.ts'
import type { Process } from './process.ts'
import type { Realm } from './realm.ts'

/** The answers of a receiver: `lying` takes the wake and breaks the connection, `late` takes it and answers after the deadline. */
export const manners = [
  'well',
  'slow',
  'failing',
  'away',
  'lying',
  'late',
  'full',
  'gone',
  'refusing',
  'tooLarge',
] as const
type Manner = (typeof manners)[number]

/** One POST, as its receiver and its sender saw it. */
export interface Post {
  readonly receiver: string
  readonly subscriptionId: string
  readonly eventId: string
  readonly type: string
  /** The message that it is about, where it says so. */
  readonly messageId: string | undefined
  readonly from: number
  readonly to: number
  readonly previous: number | null
  readonly reason: string | undefined
  readonly mode: string | undefined
  /** ms since the beginning of the world. */
  readonly at: number
  /** The process that sent it. */
  readonly process: Process
  /** The time there, in ms since the epoch. */
  readonly wall: number
  isTaken: boolean
  /** The answer that its sender got; undefined: none yet, or the sender is gone. */
  answer: number | string | undefined
  endedAt: number | undefined
}

/** Everybody that the gateway sends to, and all that they were sent. */
export class Receivers {
  readonly posts: Post[] = []
  readonly manner = new Map<string, Manner>()
  /** Called with each POST when it begins, and when its sender has the answer. */
  onBegin: (post: Post) => void = () => {}
  onEnd: (post: Post) => void = () => {}
  readonly #realm: Realm
  readonly #chance: (name: string) => Chance

  /** @param chance makes the stream of one receiver */
  constructor(realm: Realm, chance: (name: string) => Chance) {
    this.#realm = realm
    this.#chance = chance
  }

  /** The way out of one process. */
  outboundOf(process: Process): Pick<OutboundFetch, 'post'> {
    return { post: (request) => this.#post(request, process) }
  }

  #post({ url, headers, body, timeoutMs, signal }: OutboundRequest, process: Process) {
    if (process.isGone) return new Promise<OutboundResponse>(() => {})
    if (signal?.aborted) return Promise.reject(new OutboundError('aborted', 'the request was stopped'))
    const { hostname } = new URL(url)
    const post = this.#read(hostname, String(body), headers, process)
    this.posts.push(post)
    this.onBegin(post)
    const chance = this.#chance(`${hostname} ${this.posts.length}`)
    const { afterMs, isTaken, answer } = answerOf(this.manner.get(hostname) ?? 'well', chance, timeoutMs)
    post.isTaken = isTaken
    return new Promise<OutboundResponse>((resolve, reject) => {
      const end = (): void => {
        post.answer = typeof answer === 'string' ? answer : answer.status
        post.endedAt = this.#realm.now
        this.onEnd(post)
        if (typeof answer === 'string') reject(new OutboundError(answer, 'the exchange failed'))
        else resolve({ bodySnippet: echoOf(body), isPublic: true, durationMs: afterMs, ...answer })
      }
      if (afterMs === 0) setImmediate(() => process.run(end))
      else this.#realm.after(afterMs, () => process.run(end))
    })
  }

  #read(receiver: string, text: string, headers: Readonly<Record<string, string>>, process: Process): Post {
    const body = JSON.parse(text)
    const {
      eventId = headers['webhook-id'],
      eventType = String(body.name ?? body.type),
      subscriptionId,
      logId = 0,
      prevLogId: previous = null,
    } = body
    const { fromLogId: from = logId, toLogId: to = logId, reason, mode } = body.payload ?? {}
    const messageId = body.data?.messageId
    const about = { receiver, eventId, subscriptionId, type: eventType, messageId, from, to, previous, reason, mode }
    const sent = { at: this.#realm.now, wall: process.clock.now(), process }
    return { ...about, ...sent, isTaken: false, answer: undefined, endedAt: undefined }
  }
}

interface ReceiverAnswer {
  readonly afterMs: number
  readonly isTaken: boolean
  readonly answer: 'timeout' | 'reset' | 'connect' | { readonly status: number; readonly retryAfter?: string }
}

function answerOf(manner: Manner, chance: Chance, timeoutMs: number): ReceiverAnswer {
  const soon = chance.isLess(0.4) ? 0 : chance.below(1_500)
  const well = { afterMs: soon, isTaken: true, answer: { status: chance.of([200, 202, 204]) } }
  switch (manner) {
    case 'well':
      return well
    case 'slow':
      return { ...well, afterMs: chance.below(timeoutMs) }
    case 'failing':
      return chance.isLess(0.3)
        ? well
        : { ...well, isTaken: false, answer: { status: chance.of([500, 502, 503, 408]) } }
    case 'away':
      return chance.isLess(0.5)
        ? { afterMs: soon, isTaken: false, answer: 'connect' }
        : { afterMs: timeoutMs, isTaken: false, answer: 'timeout' }
    case 'lying':
      return chance.isLess(0.5) ? well : { ...well, answer: 'reset' }
    case 'late':
      return chance.isLess(0.5) ? well : { afterMs: timeoutMs, isTaken: true, answer: 'timeout' }
    case 'full':
      return {
        ...well,
        isTaken: false,
        answer: { status: chance.of([429, 503]), retryAfter: String(1 + chance.below(90)) },
      }
    case 'gone':
      return { ...well, isTaken: false, answer: { status: 410 } }
    case 'refusing':
      return { ...well, isTaken: false, answer: { status: chance.of([400, 401, 403, 404]) } }
    case 'tooLarge':
      return chance.isLess(0.5) ? well : { ...well, isTaken: false, answer: { status: 413 } }
  }
}

/** A receiver of MCP Events sends a challenge back. */
function echoOf(body: Buffer | string): string {
  const { challenge } = JSON.parse(String(body))
  return challenge === undefined ? '' : JSON.stringify({ challenge })
}
