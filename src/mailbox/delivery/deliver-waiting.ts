import { identityOf } from '../../registry/agents/identity.ts'
import type { Transaction } from '../../storage/database.ts'
import type { PendingSignal } from '../../words/mail.ts'
import { pendingSignal } from './pending-signal.ts'
import { recordDelivery, type WaitingMail } from './waiting-store.ts'

/** Marks waiting mail as delivered by a route. Returns the messages that no other route took first. */
export async function deliverWaiting(
  tx: Transaction,
  agentId: string,
  mails: readonly WaitingMail[],
  method: 'piggyback' | 'startup_drain',
  sessionId: string,
): Promise<PendingSignal[]> {
  const delivered: PendingSignal[] = []
  if (mails.length === 0) return delivered
  const identity = await identityOf(tx, agentId)
  for (const mail of mails) {
    const isFirst = await recordDelivery(tx, agentId, mail.id, method, sessionId)
    if (isFirst) delivered.push(pendingSignal(mail, identity, tx.now))
  }
  return delivered
}

/** Returns the first messages whose bodies and payloads fit together. The first one is returned whatever its size. */
export function withinCharacters(mails: readonly WaitingMail[], charactersMax: number): WaitingMail[] {
  let left = charactersMax
  return mails.filter((mail, index) => {
    left -= (mail.body?.length ?? 0) + (mail.payload === null ? 0 : JSON.stringify(mail.payload).length)
    return index === 0 || left >= 0
  })
}
