import { Batcher } from '../lib/batcher.ts'
import type { KeptSecret } from './kept-secret.ts'
import { newApiKey, secretsEqual } from './secret.ts'

/** A key that was replaced, and until when it is still taken (ms since the epoch; Infinity: as long as it is listed). */
export interface FormerKey {
  readonly key: string
  readonly until: number
}

/** The operator's key, and those before it that are still taken. */
export interface AdminKeys {
  readonly current: string
  readonly former: readonly FormerKey[]
}

/** Where a generated admin key and its predecessors are kept. */
export interface AdminKeyPlace {
  readonly current: KeptSecret
  /** One line for each: the key, a space, and the instant at which it ends. */
  readonly former: KeptSecret
}

/** What a key looks like that a gateway has made. */
const generated = /^rk_[\w-]{43}$/

/** What the operator proves to be the operator with, as it is now. */
export class AdminKey {
  #keys: AdminKeys
  readonly #read: () => Promise<AdminKeys | undefined>
  readonly #now: () => number
  /** All that ask in one turn share one look. */
  readonly #looks = new Batcher<never, void>(() => this.#look())
  #hasEnded = false

  /** `read` answers what is kept by now, if anything is. */
  constructor(keys: AdminKeys, read: () => Promise<AdminKeys | undefined>, now: () => number) {
    this.#keys = keys
    this.#read = read
    this.#now = now
  }

  get current(): string {
    return this.#keys.current
  }

  /** Compares in constant time with each key that is taken now. */
  matches(key: string): boolean {
    const { current, former } = this.#keys
    const now = this.#now()
    let isOne = secretsEqual(key, current)
    for (const { key: other, until } of former) isOne = (secretsEqual(key, other) && until > now) || isOne
    return isOne
  }

  /** The same, after a look at what is kept: a key that was made a moment ago counts at once. */
  async matchesAnew(key: string): Promise<boolean> {
    if (!generated.test(key)) return false
    await this.#looks.load([])
    return this.matches(key)
  }

  /** Takes over what is kept. Returns whether a key is taken no more that was taken when this was last asked. */
  async refresh(): Promise<boolean> {
    await this.#look()
    const hasEnded = this.#hasEnded
    this.#hasEnded = false
    return hasEnded
  }

  async #look(): Promise<void> {
    const read = (await this.#read()) ?? this.#keys
    const before = [this.#keys.current, ...this.#keys.former.map(({ key }) => key)]
    const former = read.former.filter(({ until }) => until > this.#now())
    this.#keys = { current: read.current, former }
    this.#hasEnded ||= before.some((key) => !this.matches(key))
  }
}

/** Keys that were given, the newest first: each is taken for as long as it is listed. */
export function givenAdminKeys([current, ...former]: readonly string[]): AdminKeys {
  return { current: current!, former: former.map((key) => ({ key, until: Number.POSITIVE_INFINITY })) }
}

/** What is kept, made where there is none yet. */
export async function openAdminKeys({ current, former }: AdminKeyPlace): Promise<AdminKeys> {
  return { current: await current.load(newApiKey), former: parseFormer(await former.read()) }
}

/** What is kept by now; undefined where nothing is. */
export async function readAdminKeys({ current, former }: AdminKeyPlace): Promise<AdminKeys | undefined> {
  const key = await current.read()
  return key === undefined ? undefined : { current: key, former: parseFormer(await former.read()) }
}

/**
 * Makes a new admin key. The one before it is taken until `overlapMs` have passed, and what has ended is forgotten. Returns the new key and
 * the end of the old one. Throws where none is kept yet, and when somebody else replaced it meanwhile.
 */
export async function rotateAdminKey(
  { current, former }: AdminKeyPlace,
  { now, overlapMs }: { now: number; overlapMs: number },
): Promise<{ key: string; formerUntil: number }> {
  const before = await current.read()
  if (before === undefined)
    throw new Error('No admin key is kept here yet. The first start of the gateway makes one: rouse serve')
  const listed = await former.read()
  const formerUntil = now + overlapMs
  const kept = parseFormer(listed).filter(({ key, until }) => until > now && key !== before)
  if (overlapMs > 0) kept.push({ key: before, until: formerUntil })
  const text = kept.map(({ key, until }) => `${key} ${new Date(until).toISOString()}`).join('\n')
  const key = newApiKey()
  // The old key is among the former ones before it is replaced: at no moment is it none of both.
  const isListed = listed === undefined ? (await former.load(() => text)) === text : await former.replace(listed, text)
  if (!isListed || !(await current.replace(before, key))) {
    throw new Error(
      'Somebody else replaced the admin key meanwhile. Look at it, and rotate it again if it is to be another one.',
    )
  }
  return { key, formerUntil }
}

function parseFormer(text = ''): FormerKey[] {
  return text.split('\n').flatMap((line) => {
    const [key, instant] = line.trim().split(/\s+/)
    const until = Date.parse(instant ?? '')
    return key && !Number.isNaN(until) ? [{ key, until }] : []
  })
}
