/** What is worked on before a pause, in bytes of JSON: a few ms. */
const chunkBytes = 256 * 1024
/** How many times as long as it worked long work rests, while others have work. */
const restPart = 4
/** The longest rest, in ms. */
const restMaxMs = 25
/** An iteration of the event loop that takes longer has done work of others, in ms. */
const emptyMs = 0.1

/** The last rest that was asked for. All long work of this thread rests one after the other. */
let resting: Promise<void> = Promise.resolve()

/** Spreads long work over iterations of the event loop, so that other requests go on in between, and new connections are accepted. */
export class Pauses {
  #done = 0
  #since = performance.now()

  /**
   * Counts work that was done. If it is time for a pause, returns a promise to await: it resolves when others have no work, or have had
   * four times as long for it as this slice took.
   * @param bytes that were worked on
   */
  after(bytes: number): Promise<void> | undefined {
    this.#done += bytes
    if (this.#done < chunkBytes) return undefined
    this.#done = 0
    return this.pause()
  }

  /** The same pause, after work that is not measured in bytes: a few ms of it. */
  pause(): Promise<void> {
    const restMs = Math.min((performance.now() - this.#since) * restPart, restMaxMs)
    resting = resting.then(() => letOthersWork(restMs))
    return resting.then(() => {
      this.#since = performance.now()
    })
  }
}

/** Passes over many iterations of the event loop rather than waiting once: it accepts only one connection in each. */
async function letOthersWork(maxMs: number): Promise<void> {
  const begun = performance.now()
  for (let before = begun, now = begun; ; before = now) {
    await new Promise((resolve) => setImmediate(resolve))
    now = performance.now()
    if (now - before < emptyMs || now - begun >= maxMs) return
  }
}

/** Cuts a list into groups that one iteration works on each. An entry that is larger has a group of its own. */
export function groupsOf<Item extends { readonly size: number }>(items: readonly Item[]): Item[][] {
  const groups: Item[][] = []
  let room = 0
  for (const item of items) {
    if (item.size > room || groups.length === 0) {
      groups.push([])
      room = chunkBytes
    }
    groups.at(-1)!.push(item)
    room -= item.size
  }
  return groups
}
