import type { FormerKey } from '../registry/subscriptions/former-keys.ts'
import type { PushTarget } from '../registry/subscriptions/subscription.ts'
import { type SubscriptionRow, subscriptions } from '../registry/subscriptions/subscription-row.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'

type SealedRow = Pick<SubscriptionRow, 'id' | 'signingKey' | 'formerKeys' | 'target'>

/** A sealed text of a subscription, and what it is. */
interface SealedText {
  readonly kind: 'signingKeys' | 'previousKeys' | 'pushTokens' | 'pushCredentials'
  readonly text: string
}

/** The sealed texts of a subscription. They are bound to its id. */
export interface SealedSubscription {
  readonly id: string
  readonly texts: readonly SealedText[]
  /** The row as it was read, for `replaceSealed`. */
  readonly row: SealedRow
}

const page = statement<{ after: string; limit: number }, SealedRow>(
  sql`select ${subscriptions.select('', 'id', 'signingKey', 'formerKeys', 'target')} from subscription
    where id > ${p('after')} order by id ${limited}`,
)
const count = statement<object, { total: number }>(sql`select count(*) as total from subscription`)
const replace = statement<
  SealedRow & { knownSigningKey: string | null; knownFormerKeys: string; knownTarget: string }
>(sql`update subscription
  set signing_key = ${p('signingKey')}, former_keys = ${p('formerKeys')}, target = ${p('target')}
  where id = ${p('id')} and signing_key is not distinct from ${p('knownSigningKey')}
    and former_keys = ${p('knownFormerKeys')} and target = ${p('knownTarget')}`)

/** Returns the next subscriptions by id, with their sealed texts. */
export async function listSealed(db: Reader, after: string, limit: number): Promise<SealedSubscription[]> {
  return (await db.all(page, { after, limit })).map((row) => ({ id: row.id, texts: textsOf(row), row }))
}

/** How many subscriptions `listSealed` returns in all. */
export async function countSealed(db: Reader): Promise<number> {
  return (await db.get(count, {}))?.total ?? 0
}

function textsOf({ signingKey, formerKeys, target }: SealedRow): SealedText[] {
  const { sealedToken, sealedCredentials } = JSON.parse(target) as Partial<PushTarget>
  const former = JSON.parse(formerKeys) as FormerKey[]
  const all: (readonly [SealedText['kind'], string | null | undefined])[] = [
    ['signingKeys', signingKey],
    ...former.map(({ key }) => ['previousKeys', key] as const),
    ['pushTokens', sealedToken],
    ['pushCredentials', sealedCredentials],
  ]
  return all.flatMap(([kind, text]) => (text ? [{ kind, text }] : []))
}

/**
 * Replaces sealed texts of a subscription that was read, each wherever it stands: no two are alike, and none holds a character that
 * JSON escapes. False: the subscription was changed or removed meanwhile.
 */
export async function replaceSealed(
  tx: Transaction,
  { row }: SealedSubscription,
  replacements: ReadonlyMap<string, string>,
): Promise<boolean> {
  const replaced = (text: string) => [...replacements].reduce((now, [from, to]) => now.replaceAll(from, to), text)
  const { id, signingKey, formerKeys, target } = row
  const changed = await tx.run(replace, {
    id,
    signingKey: signingKey && replaced(signingKey),
    formerKeys: replaced(formerKeys),
    target: replaced(target),
    knownSigningKey: signingKey,
    knownFormerKeys: formerKeys,
    knownTarget: target,
  })
  return changed === 1
}
