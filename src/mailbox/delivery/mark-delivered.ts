import type { Transaction } from '../../storage/database.ts'
import { recordWakes } from './waiting-store.ts'

interface Wake {
  /** The recipient's id, where the wake is about mail. */
  readonly audience: string
  readonly emission: { readonly messageIds: readonly string[] }
}

/** Marks the mail that acknowledged wakes are about as delivered, in the transaction that records the wakes: no other route brings it. */
export async function markDelivered(tx: Transaction, wakes: readonly Wake[]): Promise<void> {
  const delivered = wakes.flatMap(({ audience, emission }) =>
    emission.messageIds.map((messageId) => ({ agentId: audience, messageId })),
  )
  await recordWakes(tx, delivered)
}
