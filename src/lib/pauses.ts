/** What is worked on before a pause, in bytes of JSON: a few ms. */
export const sliceBytes = 256 * 1024
/** How many times as long as it worked long work rests, while others have work. */
const restPart = 4
/** The longest rest, in ms. */
const restMaxMs = 50
/** An iteration of the event loop that takes longer has done work of others, in ms. */
const emptyMs = 0.1

/** Slices of long work that wait, first come, first served. */
const waiting: (() => void)[] = []
let isWorking = false

/**
 * Resolves when a slice of long work may begin: work of several ms that cannot be interrupted. All long work of this thread is done one
 * slice at a time. After each, others have four times as long for their work as the slice took, if they have any.
 */
export function beginSlice(): Promise<void> {
  const begun = new Promise<void>((resolve) => waiting.push(resolve))
  if (!isWorking) void workOff()
  return begun
}

async function workOff(): Promise<void> {
  isWorking = true
  for (let begin = waiting.shift(); begin; begin = waiting.shift()) {
    const begunAt = performance.now()
    begin()
    await nextIteration()
    await letOthersWork(Math.min((performance.now() - begunAt) * restPart, restMaxMs))
  }
  isWorking = false
}

/** Passes over many iterations of the event loop rather than waiting once: it accepts only one connection in each. */
async function letOthersWork(maxMs: number): Promise<void> {
  const begun = performance.now()
  for (let before = begun, now = begun; ; before = now) {
    await nextIteration()
    now = performance.now()
    if (now - before < emptyMs || now - begun >= maxMs) return
  }
}

function nextIteration(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Spreads long work over iterations of the event loop, so that other requests go on in between, and new connections are accepted. */
export class Pauses {
  #done = 0

  /** Counts work, in bytes, that will be done now. If it is too much for this slice, returns a promise to await: of the next slice. */
  before(bytes: number): Promise<void> | undefined {
    this.#done += bytes
    if (this.#done < sliceBytes) return undefined
    this.#done = bytes < sliceBytes ? bytes : 0
    return beginSlice()
  }

  /** Counts work, in bytes, that was done. If that is enough for one slice, returns a promise to await: of the next one. */
  after(bytes: number): Promise<void> | undefined {
    this.#done += bytes
    if (this.#done < sliceBytes) return undefined
    this.#done = 0
    return beginSlice()
  }
}

/** Cuts a list into groups that one slice works on each. An entry that is larger has a group of its own. */
export function groupsOf<Item extends { readonly size: number }>(items: readonly Item[]): Item[][] {
  const groups: Item[][] = []
  let room = 0
  for (const item of items) {
    if (item.size > room || groups.length === 0) {
      groups.push([])
      room = sliceBytes
    }
    groups.at(-1)!.push(item)
    room -= item.size
  }
  return groups
}
