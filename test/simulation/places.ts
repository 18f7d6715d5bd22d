import type { Logger } from '../../src/logger/logger.ts'
import { Chance } from './chance.ts'
import { Hub, RemoteStore } from './cluster.ts'
import { type Disk, SimulatedStore } from './disk.ts'
import { type Answer, type Call, SimulatedGateway } from './gateway.ts'
import type { History } from './history.ts'
import { Process } from './process.ts'
import type { Realm } from './realm.ts'
import type { Receivers } from './receivers.ts'

/** A machine on which a gateway runs, in one process after the other. */
class Place {
  gateway: SimulatedGateway | undefined
  process: Process | undefined
  /** ms by which its clock is ahead. */
  skew = 0
  isStopping = false
  /** When its next process starts. */
  startsAt = 0
  /** Ends the calls that get no answer any more. */
  readonly calls = new Set<(answer: undefined) => void>()

  get isUp(): boolean {
    return this.gateway !== undefined && !this.gateway.process.isGone && !this.isStopping
  }

  drop(): void {
    for (const resolve of this.calls) resolve(undefined)
    this.calls.clear()
  }
}

/** The world around the machines. */
interface Around {
  readonly history: History
  readonly realm: Realm
  readonly disk: Disk
  readonly receivers: Receivers
  readonly log: Logger
  readonly note: (line: string) => void
  /** Called when a process has started: what the last one knew and has not recorded is lost. */
  readonly onStart: () => void
  /** Called when what a process knows may be on no record. */
  readonly onHurt: () => void
}

/** The machines that gateways run on: one with its own store, or several with a store and a bus in common. */
export class Places {
  readonly #around: Around
  readonly #all: readonly Place[]
  readonly #chance: Chance
  readonly #hub: Hub
  /** The store of several. */
  #server: SimulatedStore | undefined
  #started = 0

  constructor(around: Around) {
    const { seed, mix } = around.history
    this.#around = around
    this.#chance = new Chance(seed, 'places')
    this.#hub = new Hub(around.realm, new Chance(seed, 'bus'))
    this.#all = Array.from({ length: mix.gateways }, () => new Place())
    if (this.areSeveral) for (const place of this.#all) place.skew = this.#chance.of([0, 0, 1_500, -1_500])
  }

  get areSeveral(): boolean {
    return this.#all.length > 1
  }

  /** Starts what is to run. One at least does. */
  async up(): Promise<void> {
    const { realm, disk, history } = this.#around
    if (this.areSeveral) {
      const { now } = realm
      const clock = { now: () => realm.wall, after: (ms: number, work: () => void) => void realm.after(ms, work) }
      this.#server ??= new SimulatedStore(disk, clock as never, { isRemote: true, isServer: true })
      for (const place of this.#all) {
        const isAlone = !this.#all.some(({ isUp }) => isUp)
        if (!place.isUp && !place.isStopping && (isAlone || place.startsAt <= now)) await this.#start(place)
      }
    } else if (!this.#all[0]!.isUp) await this.#start(this.#all[0]!)
    disk.faults.flushMs = history.mix.flushMs
  }

  async #start(place: Place): Promise<void> {
    const { history, realm, disk, receivers, log, note } = this.#around
    for (let tries = 0; !place.isUp; tries++) {
      if (tries > 5) throw new Error('The gateway does not start.')
      place.gateway?.kill()
      place.gateway = undefined
      const process = new Process(realm, () => this.#end(place))
      place.process = process
      process.setClock(place.skew)
      const db = this.#server
        ? new RemoteStore(this.#server, process, () => this.#delay())
        : new SimulatedStore(disk, process.clock, { isRemote: history.mix.isRemote })
      const bus = this.#server && this.#hub.busOf(process)
      const chance = new Chance(history.seed, `process ${++this.#started}`)
      let isOver = false
      const starting = SimulatedGateway.start({ process, realm, receivers, chance, log, db, bus }).then(
        (gateway) => {
          place.gateway = gateway
          this.#around.onStart()
        },
        (error: unknown) => note(`no start: ${error}`),
      )
      void starting.finally(() => {
        isOver = true
      })
      for (let waits = 0; waits < 500 && !isOver && !process.isGone; waits++) await realm.pass(10)
      if (!place.gateway) {
        process.isGone = true
        db.abandon()
      }
      note('up')
    }
  }

  /** A way over the network to the store, and back. */
  async #delay(): Promise<void> {
    const { realm, history } = this.#around
    const { storeMs } = history.mix
    if (storeMs > 0) await new Promise<void>((resolve) => realm.after(this.#chance.below(storeMs), resolve))
  }

  /** One call to one of those that run. undefined: it gets no answer. */
  ask(call: Call): Promise<Answer | undefined> {
    const up = this.#all.filter(({ isUp }) => isUp)
    if (up.length === 0) return Promise.resolve(undefined)
    const place = up.length === 1 ? up[0]! : this.#chance.of(up)
    return new Promise((resolve) => {
      place.calls.add(resolve)
      void place.gateway!.call(call).then((answer) => {
        if (place.calls.delete(resolve)) resolve(answer)
      })
    })
  }

  /** A process ends now, or at an operation of the store from now. Of a machine with its own store the next one starts on what the disk has. */
  crash(n = 0, operations = 0): void {
    const place = this.#of(n)
    if (operations === 0) this.#end(place)
    else if (place.process) place.process.endsIn = operations
  }

  #end(place: Place): void {
    const { disk, realm, note, onHurt } = this.#around
    if (!place.process || place.process.isGone) return
    note(this.areSeveral ? `crash ${this.#all.indexOf(place)}` : 'crash')
    Object.assign(place.process, { isGone: true, isHurt: true })
    place.startsAt = realm.now + this.#chance.of([0, 4_000, 50_000])
    if (!this.areSeveral) disk.lose()
    place.drop()
    onHurt()
  }

  /** A process stops as a service does. Returns false when that never ends. */
  async stop(n = 0): Promise<boolean> {
    const { realm, note } = this.#around
    const place = this.#of(n)
    const { gateway } = place
    if (!gateway || !place.isUp) return true
    let isOver = false
    place.isStopping = true
    void gateway.stop().finally(() => {
      isOver = true
    })
    for (let waits = 0; waits < 200 && !isOver && !gateway.process.isGone; waits++) await realm.pass(1_000)
    place.isStopping = false
    place.drop()
    note('stopped')
    return isOver || gateway.process.isGone
  }

  /** A process is not run for a while, is away from the store, or has a wrong clock. */
  hurt(n: number, how: 'freeze' | 'cut' | 'clock', ms: number): void {
    const place = this.#of(n)
    const { process } = place
    if (!process || process.isGone) return
    if (how === 'clock') {
      place.skew = ms
      process.setClock(ms)
    } else process[how](ms)
    this.#around.note(`${how} ${this.#all.indexOf(place)} ${ms}`)
    this.#around.onHurt()
  }

  /** All clocks go on while nothing runs: a machine that all are on was asleep. */
  sleep(ms: number): void {
    this.#around.realm.offset += ms
    if (this.areSeveral) for (const { process } of this.#all) if (process) process.isHurt = true
  }

  /** Of ten messages on the bus as many are lost from now on. */
  lose(messages: number): void {
    this.#hub.lost = messages
  }

  /** Nothing is wrong any more with the machines and what is between them. */
  heal(): void {
    this.#hub.lost = 0
    for (const place of this.#all) {
      place.skew = place.startsAt = 0
      place.process?.heal()
    }
  }

  peek(text: string, ...values: (string | number)[]): Record<string, string | number | null>[] {
    return (this.#server ?? (this.#all[0]!.gateway!.store as SimulatedStore)).peek(text, ...values)
  }

  get canPeek(): boolean {
    return this.#server !== undefined || this.#all[0]!.isUp
  }

  kill(): void {
    for (const { gateway } of this.#all) gateway?.kill()
    this.#server?.abandon()
  }

  #of(n: number): Place {
    return this.#all[n % this.#all.length]!
  }
}
