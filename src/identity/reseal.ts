import { markedKeyIds, markKeys, unmarkKeys } from '../security/key-marks.ts'
import { keyIdOf, type SecretBox } from '../security/secret.ts'
import { removeUnreadableShared, resealShared } from '../security/shared-secret.ts'
import type { Database } from '../storage/database.ts'
import { countSealed, listSealed, replaceSealed, type SealedSubscription } from './sealed-store.ts'

/** Subscriptions that are read at once; each is changed in a transaction of its own. */
const rowsMax = 100
/** Passes over a store whose gateways run. */
const passesMax = 5

/** Numbers of sealed texts, by their kind. */
interface SealedCounts {
  readonly signingKeys: number
  readonly previousKeys: number
  readonly pushTokens: number
  readonly pushCredentials: number
  readonly sharedSecrets: number
}

export interface ResealReport {
  /** How many texts were sealed again. */
  readonly resealed: SealedCounts
  /** How many texts stay sealed with a key that is not listed, by the key's id. */
  readonly unreadable: Readonly<Record<string, number>>
  /** Ids of keys that nothing in the store needs any more. Empty while there are unreadable texts that were not abandoned. */
  readonly unneeded: readonly string[]
}

interface ResealOptions {
  /** Called with the number of subscriptions that were read in this pass, and of all. */
  readonly progress?: (looked: number, total: number) => void
  /** Abandons texts that are sealed with keys that are not listed: shared secrets are deleted, other texts stay unreadable. */
  readonly abandonsLost?: boolean
  readonly signal?: AbortSignal
}

const none: SealedCounts = { signingKeys: 0, previousKeys: 0, pushTokens: 0, pushCredentials: 0, sharedSecrets: 0 }

/**
 * Seals every text of a store that an older key has sealed with the newest key. Gateways may run meanwhile: a row that changes is
 * skipped and read again in another pass. After an interruption a new call continues. Rejects when the signal aborts, and when
 * every pass finds more to seal, because a gateway still seals with an older key.
 */
export async function resealStore(db: Database, box: SecretBox, options: ResealOptions = {}): Promise<ResealReport> {
  const newest = box.keyIds[0]!
  await markKeys(db, box, [newest])
  let resealed = none
  for (let pass = 1; pass <= passesMax; pass++) {
    const { found, replaced, unreadable, staying } = await onePass(db, box, options)
    resealed = sum(resealed, replaced)
    if (found > 0) continue
    if (options.abandonsLost) await removeUnreadableShared(db, box)
    const isDone = options.abandonsLost || Object.keys(unreadable).length === 0
    const unmarked = isDone ? await unmarkOthers(db, newest) : []
    // An abandoned text stays: whoever finds its key again can still read it.
    return { resealed, unreadable, unneeded: unmarked.filter((id) => !staying.has(id)) }
  }
  throw new Error(
    `After ${passesMax} passes something is sealed with an older key again: a gateway still seals with it. Give every gateway the new key first in ROUSE_ENCRYPTION_KEY, then run this again.`,
  )
}

/** The ids of the keys that subscriptions are sealed with. Reads all of them. */
export async function findKeyIds(db: Database): Promise<string[]> {
  const ids = new Set<string>()
  for await (const page of pages(db, {})) {
    for (const { texts } of page) for (const { text } of texts) ids.add(keyIdOf(text))
  }
  return [...ids]
}

async function onePass(db: Database, box: SecretBox, options: ResealOptions) {
  const unreadable: Record<string, number> = {}
  let found = 0
  let replaced = none
  const note = (id: string) => (unreadable[id] = (unreadable[id] ?? 0) + 1)
  for await (const page of pages(db, options)) {
    const stale = page.map((one) => resealOne(box, one, note)).filter(({ counts }) => counts !== none)
    found += stale.length
    // Writers that arrive together share a commit.
    const written = await Promise.all(
      stale.map(({ subscription, fresh }) => db.transaction((tx) => replaceSealed(tx, subscription, fresh))),
    )
    for (const [at, isWritten] of written.entries()) if (isWritten) replaced = sum(replaced, stale[at]!.counts)
  }
  const staying = new Set(Object.keys(unreadable))
  const shared = await resealShared(db, box)
  shared.unreadable.forEach(note)
  replaced = sum(replaced, { ...none, sharedSecrets: shared.resealed })
  return { found: found + shared.resealed, replaced, unreadable, staying }
}

/** Returns the texts of a subscription that the newest key seals otherwise, as `fresh`, and their counts: `none` itself if there are none. */
function resealOne(box: SecretBox, subscription: SealedSubscription, isUnreadable: (keyId: string) => void) {
  const fresh = new Map<string, string>()
  let counts = none
  for (const { kind, text } of subscription.texts) {
    if (!box.knows(text)) {
      isUnreadable(keyIdOf(text))
      continue
    }
    const sealed = box.reseal(text, subscription.id)
    if (sealed === text) continue
    fresh.set(text, sealed)
    counts = sum(counts, { ...none, [kind]: 1 })
  }
  return { subscription, fresh, counts }
}

async function* pages(db: Database, { progress, signal }: ResealOptions): AsyncGenerator<SealedSubscription[]> {
  const limit = rowsMax
  const total = progress ? await countSealed(db) : 0
  for (let after = '', looked = 0; ; ) {
    signal?.throwIfAborted()
    const page = await listSealed(db, after, limit)
    yield page
    looked += page.length
    if (page.length > 0) progress?.(looked, total)
    if (page.length < limit) return
    after = page.at(-1)!.id
  }
}

async function unmarkOthers(db: Database, newest: string): Promise<string[]> {
  const unneeded = (await markedKeyIds(db)).filter((id) => id !== newest)
  await unmarkKeys(db, unneeded)
  return unneeded
}

function sum(a: SealedCounts, b: SealedCounts): SealedCounts {
  return {
    signingKeys: a.signingKeys + b.signingKeys,
    previousKeys: a.previousKeys + b.previousKeys,
    pushTokens: a.pushTokens + b.pushTokens,
    pushCredentials: a.pushCredentials + b.pushCredentials,
    sharedSecrets: a.sharedSecrets + b.sharedSecrets,
  }
}
