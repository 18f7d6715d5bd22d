import { Turns } from './turns.ts'

/** What is worked on before a pause, in bytes of JSON: a few ms. */
export const sliceBytes = 256 * 1024
/** How many times as long as it worked long work rests, while others have work. */
const restPart = 4
/** The longest rest, in ms. */
const restMaxMs = 50
/** An iteration of the event loop that takes longer has done work of others, in ms. */
const emptyMs = 0.1
/** How long a caller is active after it has asked for something, in ms. */
const activeMs = 250
/** The longest that a slice waits for the store, in ms: a store that does not answer must not hold up the slices of others. */
const storeMaxMs = 100
/** A slice is late when the slices of others made it wait for longer than this, in ms. After a late one there is no full rest. */
const lateMs = 500

interface Slice {
  readonly by: string
  /** When it began to wait. */
  readonly at: number
  /** Begins its work. A promise: the slice lasts until it is settled. */
  readonly begin: () => Promise<unknown> | undefined
}

/** Slices of long work that wait. */
const waiting = new Turns<Slice>()
let isWorking = false
/** The last two callers that are not the same. */
let latest = { by: '', at: Number.NEGATIVE_INFINITY }
let before = latest

/** Notes that a caller asks for something. */
export function noteActive(by: string): void {
  const at = performance.now()
  if (latest.by === by) {
    latest.at = at
    return
  }
  before = latest
  latest = { by, at }
}

/** For the gateway itself (`''`) it takes two active callers: it may work for one of them. */
function areOthersActive(by: string): boolean {
  const other = latest.by === by || by === '' ? before : latest
  return performance.now() - other.at < activeMs
}

/**
 * Resolves when a slice of long work may begin: work of several ms that cannot be interrupted. All long work of this thread is done one
 * slice at a time, and callers share its time: much work of one delays its own. After each slice, others have four times as long for their
 * work as it took, if they are active or have any.
 * @param by the id of the caller that the work is done for; '': the gateway itself
 */
export function beginSlice(by: string): Promise<void> {
  return new Promise((resolve) => {
    const begin = (): undefined => void resolve()
    wait({ by, at: performance.now(), begin })
  })
}

/**
 * Resolves to true when a slice of long work may begin, or to false at an instant of `performance.now()` when it may not yet. For work
 * that is answered as far as it has come.
 */
export async function beginSliceBefore(instant: number, by: string): Promise<boolean> {
  const left = instant - performance.now()
  if (left <= 0) return false
  let hasBegun = false
  const begun = beginSlice(by).then(() => {
    hasBegun = true
  })
  await within(begun, left)
  return hasBegun
}

/**
 * Does work with the store in a slice of its own. The slice lasts until the store has answered, or for 100 ms, and no other slice begins
 * meanwhile. Most of the time that such work takes on this thread comes after it was asked for.
 */
export function inSlice<T>(by: string, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    // What `work` throws at once is its caller's too.
    const begin = (): Promise<void> => new Promise<T>((done) => done(work())).then(resolve, reject)
    wait({ by, at: performance.now(), begin })
  })
}

function wait(slice: Slice): void {
  waiting.add(slice.by, slice)
  if (!isWorking) void workOff()
}

async function workOff(): Promise<void> {
  isWorking = true
  for (let slice = waiting.take(); slice; slice = waiting.take()) {
    const begunAt = performance.now()
    const isLate = begunAt - slice.at > lateMs
    const took = await work(slice)
    waiting.count(took)
    const mayRest = !isLate && areOthersActive(slice.by)
    await letOthersWork(Math.min(took * restPart, restMaxMs), mayRest)
  }
  isWorking = false
}

/** Does a slice. Returns how long this thread has worked since it began, in ms. */
async function work(slice: Slice): Promise<number> {
  const begunAt = performance.now()
  const loop = performance.eventLoopUtilization()
  const ended = slice.begin()
  await nextIteration()
  if (!ended) return performance.now() - begunAt
  await within(ended, storeMaxMs)
  return performance.eventLoopUtilization(loop).active
}

/**
 * Passes over many iterations of the event loop rather than waiting once: it accepts only one connection in each. While others are active,
 * an iteration without work means that theirs waits for the store or for a network: it comes back soon.
 * @param mayRest whether to go on through such iterations
 */
async function letOthersWork(maxMs: number, mayRest: boolean): Promise<void> {
  const begun = performance.now()
  for (let last = begun, now = begun; ; last = now) {
    await nextIteration()
    now = performance.now()
    if (now - begun >= maxMs) return
    if (now - last >= emptyMs) continue
    // A timer takes a ms at least.
    if (!mayRest || maxMs < 1) return
    await new Promise((resolve) => setTimeout(resolve, 1))
    now = performance.now()
  }
}

/** Resolves when some work is settled, or after a time, in ms. */
async function within(ended: Promise<unknown>, maxMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, maxMs)
  })
  await Promise.race([ended, over])
  clearTimeout(timer)
}

function nextIteration(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Spreads long work over iterations of the event loop, so that other requests go on in between, and new connections are accepted. */
export class Pauses {
  readonly #by: string
  #done = 0

  /** @param by the id of the caller that the work is done for; '': the gateway itself */
  constructor(by: string) {
    this.#by = by
  }

  /** Counts work, in bytes, that will be done now. If it is too much for this slice, returns a promise to await: of the next slice. */
  before(bytes: number): Promise<void> | undefined {
    this.#done += bytes
    if (this.#done < sliceBytes) return undefined
    this.#done = bytes < sliceBytes ? bytes : 0
    return beginSlice(this.#by)
  }

  /** Counts work, in bytes, that was done. If that is enough for one slice, returns a promise to await: of the next one. */
  after(bytes: number): Promise<void> | undefined {
    this.#done += bytes
    if (this.#done < sliceBytes) return undefined
    this.#done = 0
    return beginSlice(this.#by)
  }
}

/** Cuts a list into groups that one slice works on each. An entry that is larger has a group of its own. */
export function groupsOf<Item extends { readonly size: number }>(
  items: readonly Item[],
  bytes: number = sliceBytes,
): Item[][] {
  const groups: Item[][] = []
  let room = 0
  for (const item of items) {
    if (item.size > room || groups.length === 0) {
      groups.push([])
      room = bytes
    }
    groups.at(-1)!.push(item)
    room -= item.size
  }
  return groups
}
