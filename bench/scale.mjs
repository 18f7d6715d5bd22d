// Simulates several gateways on one PostgreSQL, each with its own cores, because two cores cannot measure that.
// Writers of a gateway share transactions; the end of each holds the counter row of every project that it appends to.
//   node bench/scale.mjs [--round-trip 0.25] [--per-event 0.35] [--locked 0.06] [--commit 0.4]   (ms; the defaults are assumptions)
import { runIfMain } from './lib/command.mjs'
import { number, table } from './lib/table.mjs'

export const title = 'Gateways on one PostgreSQL, simulated'
export const defaults = { roundTrip: 0.25, perEvent: 0.35, locked: 0.06, commit: 0.4, seconds: 20 }
export const quick = { seconds: 2 }

const lanes = 3
const groupMax = 128
const inFlight = 400
const gatewayCounts = [1, 2, 3, 4, 8]
const shapes = [
  { name: 'one project', projects: 1 },
  { name: '64 projects, any gateway for any', projects: 64 },
  { name: '64 projects, each kept to one gateway', projects: 64, kept: true },
]

export async function measure(options) {
  const head = [
    'events accepted a second',
    ...gatewayCounts.map((count) => `${count} ${count === 1 ? 'gateway' : 'gateways'}`),
  ]
  const rows = shapes.map(({ name, ...shape }) => [
    name,
    ...gatewayCounts.map((gateways) => number(simulate({ ...options, gateways, ...shape }))),
  ])
  const { locked, commit } = options
  return [
    `${inFlight} callers for each gateway, ${lanes} groups at a time and at most ${groupMax} writers a group. Of one event: ${options.perEvent} ms of its gateway's one thread and ${locked} ms while the log is locked; of one group: a round trip of ${options.roundTrip} ms and a commit of ${commit} ms, locked too. One log takes at most ${number(1000 / locked)} events a second.`,
    table(head, rows),
  ].join('\n\n')
}

/** Events accepted a second. Time is in ms; everything that happens is a step of a heap of (time, act). */
function simulate({ gateways, projects, kept, seconds, ...cost }) {
  const agenda = new Agenda()
  const logs = Array.from({ length: projects }, () => new Lock(agenda))
  let accepted = 0
  let first = 0
  for (let gateway = 0; gateway < gateways; gateway++) {
    const thread = new Lock(agenda)
    let waiting = inFlight
    const lane = () => {
      const group = Math.min(waiting, groupMax)
      if (group === 0) return agenda.after(0.1, lane)
      waiting -= group
      // The gateway's thread works for one event after the other, whichever lane they are of.
      thread.hold(group * cost.perEvent, () => {
        const own = kept ? logs.filter((_, index) => index % gateways === gateway) : logs
        const wanted = Math.min(own.length, group)
        const mine = Array.from({ length: wanted }, (_, i) => (first + i) % own.length).sort((a, b) => a - b)
        first = (first + wanted) % own.length
        const lockedFor = group * cost.locked + cost.roundTrip + cost.commit
        takeAll(
          mine.map((index) => own[index]),
          lockedFor,
          agenda,
          () => {
            accepted += group
            waiting += group
            lane()
          },
        )
      })
    }
    for (let i = 0; i < lanes; i++) agenda.after(Math.random(), lane)
  }
  agenda.runUntil(seconds * 1000)
  return accepted / seconds
}

/** Takes the locks in order, holds them all for as long, then frees them. */
function takeAll(locks, ms, agenda, done, at = 0) {
  if (at < locks.length) return locks[at].take(() => takeAll(locks, ms, agenda, done, at + 1))
  agenda.after(ms, () => {
    for (const lock of locks) lock.free()
    done()
  })
}

/** One at a time, in the order in which they came. */
class Lock {
  #waiting = []
  #taken = false
  #agenda

  constructor(agenda) {
    this.#agenda = agenda
  }

  take(act) {
    if (this.#taken) return void this.#waiting.push(act)
    this.#taken = true
    act()
  }

  free() {
    const next = this.#waiting.shift()
    if (next) this.#agenda.after(0, next)
    else this.#taken = false
  }

  hold(ms, done) {
    this.take(() =>
      this.#agenda.after(ms, () => {
        this.free()
        done()
      }),
    )
  }
}

class Agenda {
  #heap = []
  #now = 0
  #count = 0

  after(ms, act) {
    const heap = this.#heap
    heap.push({ at: this.#now + ms, nth: this.#count++, act })
    for (let i = heap.length - 1; i > 0; ) {
      const parent = (i - 1) >> 1
      if (!before(heap[i], heap[parent])) break
      ;[heap[i], heap[parent]] = [heap[parent], heap[i]]
      i = parent
    }
  }

  runUntil(end) {
    while (this.#heap.length > 0 && this.#heap[0].at <= end) {
      const { at, act } = this.#pop()
      this.#now = at
      act()
    }
  }

  #pop() {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (heap.length > 0) heap[0] = last
    for (let i = 0; ; ) {
      const [left, right] = [2 * i + 1, 2 * i + 2]
      let least = i
      if (left < heap.length && before(heap[left], heap[least])) least = left
      if (right < heap.length && before(heap[right], heap[least])) least = right
      if (least === i) return first
      ;[heap[i], heap[least]] = [heap[least], heap[i]]
      i = least
    }
  }
}

const before = (a, b) => a.at < b.at || (a.at === b.at && a.nth < b.nth)

await runIfMain(import.meta, { title, defaults, quick, measure })
