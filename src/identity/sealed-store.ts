import type { PushTarget } from '../registry/subscriptions/subscription.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'

interface SealedRow {
  readonly id: string
  readonly signingKey: string | null
  readonly previousKey: string | null
  readonly target: string
}

/** The sealed texts of a subscription. They are bound to its id. */
export interface SealedSubscription {
  readonly id: string
  signingKey: string | null
  previousKey: string | null
  token: string | undefined
  credentials: string | undefined
  /** The row as it was read, for `replaceSealed`. */
  readonly row: SealedRow
}

const page = statement<{ after: string; limit: number }, SealedRow>(sql`select id, signing_key as "signingKey",
    previous_key as "previousKey", target from subscription where id > ${p('after')} order by id ${limited}`)
const replace = statement<
  SealedRow & { knownSigningKey: string | null; knownPreviousKey: string | null; knownTarget: string }
>(sql`update subscription
  set signing_key = ${p('signingKey')}, previous_key = ${p('previousKey')}, target = ${p('target')}
  where id = ${p('id')} and signing_key is not distinct from ${p('knownSigningKey')}
    and previous_key is not distinct from ${p('knownPreviousKey')} and target = ${p('knownTarget')}`)

/** Returns the next subscriptions by id, with their sealed texts. */
export async function listSealed(db: Reader, after: string, limit: number): Promise<SealedSubscription[]> {
  return (await db.all(page, { after, limit })).map((row) => {
    const { sealedToken, sealedCredentials } = JSON.parse(row.target) as Partial<PushTarget>
    const { id, signingKey, previousKey } = row
    return { id, signingKey, previousKey, token: sealedToken, credentials: sealedCredentials, row }
  })
}

/** Replaces the sealed texts that were read. False: the subscription was changed or removed meanwhile. */
export async function replaceSealed(tx: Transaction, { row, ...sealed }: SealedSubscription): Promise<boolean> {
  const { token: sealedToken, credentials: sealedCredentials } = sealed
  const changed = await tx.run(replace, {
    id: sealed.id,
    signingKey: sealed.signingKey,
    previousKey: sealed.previousKey,
    target: JSON.stringify({
      ...JSON.parse(row.target),
      ...(sealedToken === undefined ? {} : { sealedToken }),
      ...(sealedCredentials === undefined ? {} : { sealedCredentials }),
    }),
    knownSigningKey: row.signingKey,
    knownPreviousKey: row.previousKey,
    knownTarget: row.target,
  })
  return changed === 1
}
