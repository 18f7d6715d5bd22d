import { checkEnd } from './at-the-end.ts'
import type { Answer, Call } from './gateway.ts'
import type { Post } from './receivers.ts'
import { Violation, type World } from './world.ts'

/** What the world knows of a subscription beside the gateway. */
interface Watched {
  readonly id: string
  readonly handle: string
  readonly width: number
  isPaused: boolean
  /** Grows with each end of a pause. */
  order: number
  /** A resync or a replay was asked for: events may come again under a new id. */
  isSentAgain: boolean
  /** Its reader has said that it has all up to this event. */
  knownTo: number
  readonly posts: Post[]
  /** The newest event that its gateway has an acknowledgement of. */
  acknowledgedTo: number
  /** When it was last made active: what is sent again from before a failure has what was on its way then. */
  resumedAt: number
  /** When somebody has last changed something about it, in ms since the beginning. */
  touchedAt: number
  /** Wakes that began after a pause or a park was answered. */
  late: number
}

/** After this long a gateway has heard of each change, or has noticed that it hears nothing. */
const hearingMs = 20_000

/** The order of what only rises. */
const receiptOrder = ['accepted', 'routed', 'written', 'turn_started', 'seen', 'acked', 'resolved']
const statusOrder = ['sent', 'seen', 'acked', 'resolved']

/** The rules that hold at each instant, checked against what the world itself has seen. */
export class Watch {
  readonly subscriptions = new Map<string, Watched>()
  /** Calls that were accepted, by a word that only they have. */
  readonly acceptedWords = new Map<string, boolean>()
  readonly keyedWords = new Set<string>()
  /** A lost answer had mail, which waits again: what its receipt said was not so. */
  returnsMail = false
  readonly #world: World
  /** Until when an agent is parked, in ms of the wall clock. */
  readonly #parkedUntil = new Map<string, number>()
  #parkOrder = 0
  readonly #begun = new Set<string>()
  readonly #moved = new Set<string>()
  readonly #caps = new Map<string, { turns: number; since: number }>()
  #receipts = new Map<string, number>()

  constructor(world: World) {
    this.#world = world
  }

  subscribed(id: string, handle: string, width: number): void {
    const known = this.subscriptions.get(id)
    if (known) return
    this.#world.subscriptions.push(id)
    this.subscriptions.set(id, {
      id,
      handle,
      width,
      isPaused: false,
      order: 0,
      isSentAgain: false,
      knownTo: 0,
      posts: [],
      acknowledgedTo: 0,
      resumedAt: 0,
      touchedAt: Number.NEGATIVE_INFINITY,
      late: 0,
    })
  }

  keyed(word: string): void {
    this.keyedWords.add(word)
  }

  accepted(word: string, isKeyed: boolean): void {
    this.acceptedWords.set(word, isKeyed)
  }

  /** Returns what notes the answer to a pause that is asked for now. */
  pausing(id: string): () => void {
    const one = this.subscriptions.get(id)!
    const order = one.order
    return () => {
      // A pause that was asked for before its end may have been stored before it.
      one.isPaused = order === one.order
    }
  }

  resumes(id: string): void {
    const one = this.subscriptions.get(id)
    if (one) Object.assign(one, { isPaused: false, order: one.order + 1, resumedAt: this.#world.realm.now })
  }

  sendsAgain(id: string, knownTo = 0): void {
    const one = this.subscriptions.get(id)
    if (one) Object.assign(one, { isSentAgain: true, knownTo: Math.max(one.knownTo, knownTo) })
  }

  /** Returns what notes the answer to a park that is asked for now. It may be stored without an answer, and end earlier than the one before. */
  parking(handle: string, asked: string | null): (until: string | null) => void {
    const order = this.#parkOrder
    const before = this.#parkedUntil.get(handle)
    if (before !== undefined && asked !== null) this.#parkedUntil.set(handle, Math.min(before, Date.parse(asked)))
    return (until) => this.#parks(handle, until, order)
  }

  #parks(handle: string, until: string | null, order: number): void {
    // A park that was asked for before its end may have been stored before it.
    if (order === this.#parkOrder)
      this.#parkedUntil.set(handle, until === null ? Number.POSITIVE_INFINITY : Date.parse(until))
  }

  unparks(handle: string): void {
    this.#parkOrder++
    this.#parkedUntil.delete(handle)
  }

  caps(handle: string, turns: number | undefined): void {
    if (turns === undefined) this.#caps.delete(handle)
    else this.#caps.set(handle, { turns, since: this.#world.realm.now })
  }

  moved(taskId: string, version: number): void {
    this.#once(this.#moved, `${taskId} ${version}`, 'one of two moves of a version succeeds')
  }

  begun(handle: string, epoch: number): void {
    this.#once(this.#begun, `${handle} ${epoch}`, 'an order is given once')
  }

  /** A crash: what was seen of commits that had not reached the disk may be gone. */
  forget(): void {
    this.#receipts = new Map()
  }

  /** A process starts: an answer that the last one has not recorded was given to nobody. */
  starts(): void {
    for (const { id, cursor } of this.#peek('select id, cursor_log_id as cursor from subscription')) {
      const one = this.subscriptions.get(String(id))
      if (!one) continue
      const end = Math.min(one.acknowledgedTo, Number(cursor))
      // A wake that came again is as it ended last.
      const last = new Map(one.posts.map((post) => [post.eventId, post]))
      const known = [...last.values()].filter((post) => isTaken(post) && post.to <= end)
      one.acknowledgedTo = Math.max(0, ...known.map(({ to }) => to))
    }
  }

  /** The wall clock is set back by more than clocks may differ: turns of later than now are not counted. */
  clockSet(): void {
    for (const cap of this.#caps.values()) cap.since = this.#world.realm.now
  }

  /** A POST begins. */
  begins(post: Post): void {
    this.#world.note(`POST ${post.receiver} ${post.type} ${post.from}-${post.to} ${post.eventId}`)
    const one = this.subscriptions.get(post.subscriptionId)
    if (!one || post.type === 'wake/test') return
    const until = this.#parkedUntil.get(one.handle)
    if (until !== undefined && post.wall < until) this.#late(one, 'no wake goes past a park', post)
    else if (one.isPaused) this.#late(one, 'no wake goes past a pause', post)
    else one.late = 0
    const open = one.posts.filter((other) => other.endedAt === undefined)
    const here = open.filter(({ process }) => process === post.process)
    if (here.length >= one.width) fail('one wake after the other', said(post))
    const there = open.filter(({ process }) => process !== post.process && !process.isHurt)
    if (there.length > 0 && !this.#isUncertain(one, post)) fail('one gateway sends at a time', said(post))
    this.#checkRepeat(one, post)
    one.posts.push(post)
  }

  /** One gateway sends nothing after its answer. Of several, another one may send a wake or two before it hears of the change. */
  #late(one: Watched, rule: string, post: Post): void {
    one.late++
    if (!this.#world.places.areSeveral || one.late > 2 * one.width) fail(rule, said(post))
  }

  /** True where two gateways may both have worked on a subscription: one of them was away, or has yet to hear of a change. */
  #isUncertain({ touchedAt }: Watched, { process, at }: Post): boolean {
    return this.#world.places.areSeveral && (process.isHurt || at - touchedAt < hearingMs)
  }

  /** Somebody asks for a change of a subscription, or of all that an agent has. */
  touches(who: string): void {
    for (const one of this.subscriptions.values())
      if (one.id === who || one.handle === who) one.touchedAt = this.#world.realm.now
  }

  /** Its sender has the answer. */
  ends(post: Post): void {
    this.#world.note(`${post.receiver} ${post.answer} ${post.eventId}`)
    const one = this.subscriptions.get(post.subscriptionId)
    if (!one || post.type === 'wake/test' || !isTaken(post)) return
    // What a process knows that cannot write it, another one does not.
    if (post.at >= one.resumedAt && !post.process.isHurt) one.acknowledgedTo = Math.max(one.acknowledgedTo, post.to)
    const cap = this.#caps.get(one.handle)
    if (!cap) return
    const since = Math.max(cap.since, this.#world.realm.now - 3_600_000)
    const ofAgent = [...this.subscriptions.values()].filter(({ handle }) => handle === one.handle)
    const turns = ofAgent.flatMap(({ posts }) => posts).filter((other) => isTaken(other) && other.at > since)
    // Subscriptions that ask at the same instant may each get a turn.
    const most = cap.turns + ofAgent.reduce((sum, { width }) => sum + width, 0) - 1
    if (new Set(turns.map(({ eventId }) => eventId)).size > most) fail('no wake goes past a cap', said(post))
  }

  /** A look at the store between two acts. */
  look(): void {
    if (!this.#world.places.canPeek) return
    const rows = this.#peek(
      "select agent_id || ' ' || message_id as id, status, receipt from message_recipient where agent_id <> 'operator'",
    )
    for (const { id, status, receipt } of rows) {
      for (const [name, order, value] of [
        ['receipt', receiptOrder, receipt],
        ['status', statusOrder, status],
      ] as const) {
        const rank = (order as readonly unknown[]).indexOf(value)
        const mayFall = this.returnsMail && name === 'receipt'
        const key = `${name} ${id}`
        if (rank >= 0 && !mayFall && rank < (this.#receipts.get(key) ?? 0))
          fail('no receipt falls', `${key} is ${value}`)
        this.#receipts.set(key, rank)
      }
    }
  }

  /** The subscriptions, as they are stored. */
  stored(): { readonly id: string; readonly status: string }[] {
    return this.#peek("select id, status from subscription where kind = 'wake'") as never
  }

  isAnythingDue(): boolean {
    const due = "select 1 from subscription where kind = 'wake' and status = 'active' and due_at is not null"
    return this.#peek(due).length > 0
  }

  end(soon: (call: Call) => Promise<Answer>): Promise<void> {
    return checkEnd(this.#world, this, soon)
  }

  reasonIn(fields: object): string {
    const { err, ...rest } = fields as { err?: Error }
    return `${JSON.stringify(rest).slice(0, 200)}${err ? ` ${err.message}` : ''}`
  }

  #checkRepeat(one: Watched, post: Post): void {
    // Of several in flight only the oldest moves the cursor: what overtook one that failed is sent again.
    if (one.width > 1 || this.#isUncertain(one, post) || this.#world.disk.isBroken) return
    const same = one.posts.filter(({ eventId }) => eventId === post.eventId)
    if (same.some((other) => isTaken(other) && other.process === post.process)) {
      fail('what was acknowledged is not sent again', said(post))
    }
    if (same.length > 0 || one.isSentAgain || post.reason !== undefined) return
    if (post.from <= one.acknowledgedTo)
      fail('an event comes again under its own id only', `${said(post)} after ${one.acknowledgedTo}`)
    const last = one.posts.at(-1)
    if (last && one.width === 1 && post.to < last.to)
      fail('wakes go in the order of the log', `${said(post)} after ${said(last)}`)
  }

  #peek(text: string): Record<string, string | number | null>[] {
    return this.#world.places.peek(text)
  }

  #once(known: Set<string>, key: string, rule: string): void {
    this.#world.attempt(() => {
      if (known.has(key)) fail(rule, key)
    })
    known.add(key)
  }
}

export function fail(rule: string, detail: string): never {
  throw new Violation(rule, detail)
}

export const isTaken = ({ answer }: Post): boolean => typeof answer === 'number' && answer >= 200 && answer < 300

const said = ({ subscriptionId, eventId, type, from, to }: Post): string =>
  `${subscriptionId} ${type} ${from}-${to} (${eventId})`
