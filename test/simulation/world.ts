import { newMessageId } from '../../src/lib/ids.ts'
import type { Logger } from '../../src/logger/logger.ts'
import { actsOf, numberOf } from './acts.ts'
import { Chance } from './chance.ts'
import { Disk } from './disk.ts'
import { type Answer, adminKey, type Call } from './gateway.ts'
import type { Act, History } from './history.ts'
import { Places } from './places.ts'
import { Realm } from './realm.ts'
import { Receivers } from './receivers.ts'
import { Watch } from './watch.ts'

/** Something that must not be. */
export class Violation extends Error {
  constructor(
    readonly rule: string,
    detail: string,
  ) {
    super(`${rule}: ${detail}`)
  }
}

export interface Agent {
  readonly handle: string
  readonly id: string
  readonly key: string
  sessionId?: string | undefined
  pid: number
  hasBridge: boolean
}

/** What came of a history. */
export interface Played {
  /** A `Violation`, or what went wrong in the world itself. */
  readonly failure: Error | undefined
  readonly trace: readonly string[]
  /** Timers and entries of the queue that have run. */
  readonly steps: number
  readonly posts: number
}

/** A history as it happens: one gateway, its disk, its receivers, and the programs that call it. */
export class World {
  readonly realm: Realm
  readonly disk: Disk
  readonly receivers: Receivers
  readonly watch: Watch
  readonly trace: string[] = []
  readonly agents: Agent[] = []
  readonly subscriptions: string[] = []
  readonly tasks: { readonly id: string; readonly keys: readonly string[] }[] = []
  readonly messages: { readonly id: string; readonly to: string }[] = []
  readonly history: History
  readonly places: Places
  /** No more faults: what was accepted has to come to its end. */
  isCalm = false
  isOver = false
  /** A process has ended before it could record what it knew. */
  wasHurt = false
  #count = 0
  readonly #mistakes: unknown[] = []

  private constructor(history: History) {
    this.history = history
    const { seed, mix } = history
    const chance = (name: string): Chance => new Chance(seed, name)
    this.realm = new Realm({ ids: chance('ids'), order: chance('order') }, mix.disorder)
    const after = (ms: number, work: () => void): void => void this.realm.after(ms, work)
    this.disk = new Disk(chance('disk'), after, () => this.places.crash())
    this.receivers = new Receivers(this.realm, chance)
    this.watch = new Watch(this)
    const { realm, disk, receivers } = this
    const onStart = (): void => this.watch.starts()
    const onHurt = (): void => {
      this.wasHurt = true
      if (mix.gateways === 1) this.watch.forget()
      else this.watch.starts()
    }
    const note = (line: string): void => this.note(line)
    this.places = new Places({ history, realm, disk, receivers, log: this.#log, note, onStart, onHurt })
    this.receivers.onBegin = (post) => this.attempt(() => this.watch.begins(post))
    this.receivers.onEnd = (post) => this.attempt(() => this.watch.ends(post))
  }

  /** Plays a history to its end, or to the first thing that must not be. */
  static async play(history: History): Promise<Played> {
    newMessageId(0)
    const world = new World(history)
    let failure: Error | undefined
    try {
      await world.#begin()
      for (const [at, act] of history.acts.entries()) await world.#act(at, act)
      await world.#end()
    } catch (error) {
      failure = error as Error
    } finally {
      world.isOver = true
      world.places.kill()
      world.realm[Symbol.dispose]()
      world.disk[Symbol.dispose]()
    }
    const { trace, realm, receivers } = world
    return { failure, trace, steps: realm.timersRun + realm.stepsRun, posts: receivers.posts.length }
  }

  note(line: string): void {
    this.trace.push(`${this.realm.now} ${line}`)
  }

  /** A number that nothing else of this history has. */
  next(): number {
    return ++this.#count
  }

  /** Runs a check within the work of the gateway, which would take its error for one of its own. */
  attempt(check: () => void): void {
    try {
      check()
    } catch (error) {
      this.#mistakes.push(error)
    }
  }

  /** One call, by a program that does not wait for it. undefined: it got no answer. */
  async ask(call: Call, isLost = false): Promise<Answer | undefined> {
    const answer = await this.places.ask(call)
    if (!answer) return undefined
    this.note(`${call.method} ${call.path} ${answer.status}${isLost ? ' lost' : ''}`)
    if (isLost) this.#lose(answer)
    if (answer.status === 500)
      this.#mistakes.push(new Violation('no internal error', `${call.method} ${call.path}: ${answer.body.detail}`))
    return isLost ? undefined : answer
  }

  /** An answer does not reach its client. Its mail waits again: what its receipts said was not so. */
  #lose({ body, returnMail }: Answer): void {
    if (body.pendingSignals?.length > 0) this.watch.returnsMail = true
    returnMail?.()
  }

  /** A call that its client repeats with the same key until it has an answer that means something. */
  async askOnce(call: Call, losses = 0): Promise<Answer | undefined> {
    const idempotencyKey = `key-${this.next()}`
    for (let tries = 0; tries < 5; tries++) {
      const answer = await this.ask({ ...call, idempotencyKey }, tries < losses)
      if (answer && answer.status < 500) return answer
      if (this.isOver) return undefined
      await new Promise<void>((resolve) => this.realm.after(2_000, resolve))
    }
    return undefined
  }

  async stop(n = 0): Promise<void> {
    if (!(await this.places.stop(n))) throw new Violation('a stop ends', 'it took more than 200 s')
    if (this.history.mix.gateways === 1) this.watch.forget()
  }

  async #act(at: number, { what, after, n }: Act): Promise<void> {
    await this.wait(after)
    await this.places.up()
    this.note(`${at} ${what}`)
    await actsOf[what](this, n)
    await this.realm.settle()
    await this.places.up()
    this.#raise()
    this.watch.look()
  }

  /** Lets time pass. A gateway to which nothing happens does next to nothing. */
  async wait(ms: number): Promise<void> {
    const { operations } = this.disk
    const posts = this.receivers.posts.length
    const from = this.realm.now
    await this.realm.pass(ms)
    const done = this.disk.operations - operations
    const sent = this.receivers.posts.length - posts
    const seconds = (this.realm.now - from) / 1_000
    // Some sweeps look every few seconds; each wake, and each call, has a few dozen statements.
    const most = 3_000 + 60 * seconds * this.history.mix.gateways + 200 * sent
    if (done > most)
      throw new Violation('who has nothing to do is quiet', `${done} operations of the disk in ${seconds} s`)
  }

  async #begin(): Promise<void> {
    this.disk.format()
    await this.places.up()
    const { mix } = this.history
    const admin = { key: adminKey }
    for (let count = 0; count < mix.agents; count++) {
      const handle = `agent${count}`
      const { body } = await this.#soon({ ...admin, method: 'POST', path: '/v1/agents', body: { handle } })
      this.agents.push({
        handle,
        id: body.agent.agentId ?? body.agent.id,
        key: body.apiKey,
        pid: 100 + count,
        hasBridge: false,
      })
    }
    const url = 'https://operator.example/'
    const needs = {
      trigger: 'NEED_CHANGED',
      harnessTarget: 'a2a-webhook',
      harnessTargetMetadata: { url, coalesceWindow: 0 },
    }
    if (mix.isWatched) await this.#soon({ ...admin, method: 'POST', path: '/v1/wake-subscriptions', body: needs })
    for (const agent of this.agents) {
      const harnessTargetMetadata = {
        url: `https://${agent.handle}.example/wake`,
        coalesceWindow: mix.window,
        retryForSeconds: mix.retryForSeconds,
        maxInFlight: mix.maxInFlight,
      }
      const body = { trigger: 'SENT_TO_ME', harnessTarget: 'a2a-webhook', harnessTargetMetadata, startFrom: 'now' }
      const made = await this.#soon({ key: agent.key, method: 'POST', path: '/v1/wake-subscriptions', body })
      this.watch.subscribed(made.body.subscriptionId, agent.handle, mix.maxInFlight)
    }
    if (mix.recovers) await this.#arm()
  }

  /** Every agent has a session and a bridge, and the gates are open. */
  async #arm(): Promise<void> {
    const chance = new Chance(this.history.seed, 'arm')
    await actsOf.gate(this, [0, 0, 0])
    await this.realm.pass(100)
    for (const at of this.agents.keys()) {
      const n = numberOf(at)
      await actsOf.session(this, [n, chance.next(), 0])
      await actsOf.bridge(this, [n, chance.next(), 0])
      await this.realm.pass(100)
    }
  }

  /** An answer that nothing can keep away. */
  async #soon(call: Call): Promise<Answer> {
    let answer: Answer | undefined
    void this.ask(call).then((given) => {
      answer = given
    })
    for (let waits = 0; waits < 100 && !answer; waits++) await this.realm.pass(10)
    if (!answer || answer.status >= 300) throw new Error(`${call.path}: ${JSON.stringify(answer)}`)
    return answer
  }

  /** Faults stop, and everything is put right: then all that was accepted has to arrive. */
  async #end(): Promise<void> {
    this.isCalm = true
    Object.assign(this.disk.faults, { crashIn: 0, full: 0, failing: 0, unreadable: 0, flushMs: 0 })
    this.receivers.manner.clear()
    this.places.heal()
    // A process that is frozen for long goes on, and answers what it was asked.
    await this.realm.pass(this.places.areSeveral ? 100_000 : 20_000)
    // A process that does not know what is on its disk is started again.
    if (this.disk.isBroken) await this.stop()
    await this.places.up()
    this.note('calm')
    await this.#soon({
      key: adminKey,
      method: 'PATCH',
      path: '/v1/gate',
      body: { nudges: 'disabled', restarts: 'disabled' },
    })
    for (const { handle, key } of this.agents) {
      this.watch.unparks(handle)
      await this.#soon({ key, method: 'DELETE', path: '/v1/parked' })
      this.watch.caps(handle, undefined)
      const settings = { turnsPerHour: null, senderTurnsPerHour: null }
      await this.#soon({ key: adminKey, method: 'PATCH', path: '/v1/gate', body: { agent: handle, settings } })
    }
    for (const { id, status } of this.watch.stored()) {
      if (status === 'active') continue
      const key = adminKey
      this.watch.resumes(id)
      await this.#soon({
        key,
        method: 'PATCH',
        path: `/v1/wake-subscriptions/${encodeURIComponent(id)}`,
        body: { status: 'active' },
      })
    }
    // The longest wait between two tries is five minutes, and the longest window and lease a minute and a half.
    for (let minutes = 0; minutes < 12 && (minutes < 1 || this.watch.isAnythingDue()); minutes++) {
      await this.wait(60_000)
      this.#raise()
    }
    this.watch.look()
    await this.watch.end((call) => this.#soon(call))
    this.#raise()
  }

  #raise(): void {
    if (this.#mistakes.length > 0) throw this.#mistakes[0]
  }

  get #log(): Logger {
    const line = (level: string) => (fields: object, event: string) => {
      if (level === 'error' || level === 'warn') this.note(`${level} ${event} ${this.watch.reasonIn(fields)}`)
    }
    return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error'), shows: () => false }
  }
}
