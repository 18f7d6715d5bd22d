import { timingSafeEqual } from 'node:crypto'
import { Problem } from '../errors.ts'
import { Batcher } from '../lib/batcher.ts'
import type { KeptSecret } from './kept-secret.ts'
import { hashSecret, newApiKey } from './secret.ts'

/** A replaced key, and the end of its overlap in ms since the epoch (Infinity: accepted while it is listed). */
interface FormerKey {
  readonly key: string
  readonly until: number
}

/** The operator's key, and former ones that are still accepted. */
export interface AdminKeys {
  readonly current: string
  readonly former: readonly FormerKey[]
}

/** The places where a generated admin key and its predecessors are stored. */
export interface AdminKeyPlace {
  readonly current: KeptSecret
  /** One line for each key: the key, a space, and the instant at which it ends. */
  readonly former: KeptSecret
}

/** The form of keys that a gateway makes. */
const generated = /^rk_[\w-]{43}$/

/** The current credentials of the operator. */
export class AdminKey {
  #keys: AdminKeys
  /** Of the keys: each request compares its own with them. */
  #digests: readonly { readonly digest: Buffer; readonly until: number }[]
  readonly #read: () => Promise<AdminKeys | undefined>
  readonly #now: () => number
  /** Calls in the same iteration of the event loop share one read. */
  readonly #looks = new Batcher<never, void>(() => this.#look())
  readonly #unread: (error: unknown) => void
  #hasEnded = false
  #isFailing = false

  /**
   * @param read returns what is stored now, if anything is
   * @param unread is called when a request finds that it cannot be read, until it can be read again
   */
  constructor(
    keys: AdminKeys,
    read: () => Promise<AdminKeys | undefined>,
    now: () => number,
    unread: (error: unknown) => void = () => {},
  ) {
    this.#unread = unread
    this.#keys = keys
    this.#digests = digestsOf(keys)
    this.#read = read
    this.#now = now
  }

  get current(): string {
    return this.#keys.current
  }

  /** Compares in constant time with each key that is accepted now. */
  matches(key: string): boolean {
    const given = digestOf(key)
    const now = this.#now()
    let isOne = false
    for (const { digest, until } of this.#digests) isOne = (timingSafeEqual(given, digest) && until > now) || isOne
    return isOne
  }

  /**
   * The same after reading the store, so that a new key counts at once. Keys that cannot be read match nothing; a store that does not
   * answer is a `Problem` of the caller.
   */
  async matchesAnew(key: string): Promise<boolean> {
    if (!generated.test(key)) return false
    try {
      await this.#looks.load([])
    } catch (error) {
      if (error instanceof Problem) throw error
      if (!this.#isFailing) this.#unread(error)
      this.#isFailing = true
    }
    return this.matches(key)
  }

  /** Reads the store. Returns whether a key has ended that was accepted at the last call. */
  async refresh(): Promise<boolean> {
    await this.#look()
    const hasEnded = this.#hasEnded
    this.#hasEnded = false
    return hasEnded
  }

  async #look(): Promise<void> {
    const read = (await this.#read()) ?? this.#keys
    this.#isFailing = false
    const before = [this.#keys.current, ...this.#keys.former.map(({ key }) => key)]
    const former = read.former.filter(({ until }) => until > this.#now())
    this.#keys = { current: read.current, former }
    this.#digests = digestsOf(this.#keys)
    this.#hasEnded ||= before.some((key) => !this.matches(key))
  }
}

function digestsOf({ current, former }: AdminKeys) {
  const all = [{ key: current, until: Number.POSITIVE_INFINITY }, ...former]
  return all.map(({ key, until }) => ({ digest: digestOf(key), until }))
}

/** Keys from the configuration, newest first: each is accepted while it is listed. */
export function givenAdminKeys([current, ...former]: readonly string[]): AdminKeys {
  return { current: current!, former: former.map((key) => ({ key, until: Number.POSITIVE_INFINITY })) }
}

/** The stored keys. Makes the first one if there is none. */
export async function openAdminKeys({ current, former }: AdminKeyPlace): Promise<AdminKeys> {
  return { current: await current.load(newApiKey), former: parseFormer(await former.read()) }
}

/** The stored keys; undefined: there are none. */
export async function readAdminKeys({ current, former }: AdminKeyPlace): Promise<AdminKeys | undefined> {
  const key = await current.read()
  return key === undefined ? undefined : { current: key, former: parseFormer(await former.read()) }
}

/**
 * Makes a new admin key. The one before it is accepted for another `overlapMs`, and earlier ones no longer than that: any of them may
 * be the one that leaked. Returns the new key and the end of the old one. Throws if none is stored yet, or if another process replaced
 * it meanwhile.
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
  const kept = [...parseFormer(listed).filter(({ key }) => key !== before), { key: before, until: formerUntil }]
    .map(({ key, until }) => ({ key, until: Math.min(until, formerUntil) }))
    .filter(({ until }) => until > now)
  const text = kept.map(({ key, until }) => `${key} ${new Date(until).toISOString()}`).join('\n')
  const key = newApiKey()
  // The old key is stored as a former one before it is replaced, so that it is accepted at every moment.
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

/** The bytes of the hash in hex: a hash as a buffer of its own costs several times as much. */
function digestOf(key: string): Buffer {
  return Buffer.from(hashSecret(key), 'latin1')
}
