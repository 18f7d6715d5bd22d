/** Numbers that follow from a seed alone (sfc32). Each part of the world has a stream of its own, so that one more draw here changes nothing there. */
export class Chance {
  readonly #state: Uint32Array

  constructor(...seed: readonly (string | number)[]) {
    this.#state = mixed(seed.join('\n'))
    for (let round = 0; round < 12; round++) this.next()
  }

  /** From 0 to 2³² - 1. */
  next(): number {
    const s = this.#state
    const sum = (s[0]! + s[1]! + s[3]!) | 0
    s[3] = s[3]! + 1
    s[0] = s[1]! ^ (s[1]! >>> 9)
    s[1] = (s[2]! + (s[2]! << 3)) | 0
    s[2] = (s[2]! << 21) | (s[2]! >>> 11)
    s[2] = (s[2]! + sum) | 0
    return sum >>> 0
  }

  /** From 0 to 1, without 1. */
  fraction(): number {
    return this.next() / 2 ** 32
  }

  below(count: number): number {
    return this.next() % count
  }

  isLess(probability: number): boolean {
    return this.fraction() < probability
  }

  of<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!
  }

  fill(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at++) bytes[at] = this.next() & 255
  }
}

function mixed(text: string): Uint32Array {
  const state = new Uint32Array([0x9e3779b9, 0x243f6a88, 0xb7e15162, 1])
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    for (let lane = 0; lane < 3; lane++) state[lane] = Math.imul(state[lane]! ^ (code + lane), 0x85ebca6b + 2 * lane)
    state[0] = state[0]! ^ (state[2]! >>> 13)
  }
  return state
}
