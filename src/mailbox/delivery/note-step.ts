import type { AppendEvents } from '../../log/append.ts'
import type { NewEvent } from '../../log/event.ts'
import { gatewayId } from '../../registry/agents/identity.ts'
import { nameOfParty, type Party, partyOf, policiesOf } from '../../registry/agents/party.ts'
import type { Transaction } from '../../storage/database.ts'
import type { OnStep, StepOfWake } from '../../wakes/on-step.ts'
import { provesTurn } from '../../wakes/rules/sender-view.ts'
import { reasonIn, sourceKind } from '../../words/sender-view.ts'
import { findWokenMail, saveEvidence, type WokenMail } from './evidence-store.ts'
import { recordWakes } from './waiting-store.ts'
import { newerEvidence } from './wake-evidence.ts'

/**
 * Makes the function that records a step of a wake with its mail, in the transaction that records the step: the recipient's row has the
 * strongest step, and its `receipt` rises as far as the step proves. Each sender gets one event. Source: D11, D17.
 */
export function createNoteStep(append: AppendEvents): OnStep {
  return async (tx, step) => {
    const { audience, eventId, messageIds, said, outcome } = step
    const mails = await findWokenMail(tx, audience, messageIds)
    if (mails.length === 0) return
    if (outcome === 'delivered') {
      await recordWakes(
        tx,
        mails.map(({ messageId }) => ({ agentId: audience, messageId })),
      )
    }
    const next = { eventId, step: said.step, source: said.source, at: said.at, detail: said.detail }
    const isTurn = provesTurn(said.step)
    const evidence = mails.map(({ messageId, wake }) => ({ messageId, wake: newerEvidence(wake, next), isTurn }))
    await saveEvidence(tx, audience, evidence)
    if (step.isShownToSender) await tellSenders(append, tx, step, mails)
  }
}

/** Appends one event for each sender, about its newest message in the wake. Not for mail of the recipient to itself. */
async function tellSenders(
  append: AppendEvents,
  tx: Transaction,
  step: StepOfWake,
  mails: readonly WokenMail[],
): Promise<void> {
  const bySender = new Map<string, WokenMail[]>()
  for (const mail of mails) {
    if (mail.senderId === gatewayId || mail.senderId === step.audience) continue
    bySender.set(mail.senderId, [...(bySender.get(mail.senderId) ?? []), mail])
  }
  if (bySender.size === 0) return
  const recipient = await partyOf(tx, step.audience)
  for (const [senderId, sent] of bySender) {
    const sender = await partyOf(tx, senderId)
    const newest = sent.at(-1)!
    // The log of the sender's project. An operator reads that of the message.
    const projectId = sender.projectId ?? newest.projectId
    await append(tx, projectId, [wakeReported(step, newest, sent.length, { sender, recipient, projectId })])
  }
}

interface Parties {
  readonly sender: Party
  readonly recipient: Party
  readonly projectId: string
}

/** The sender learns what a peer may know: not the reader's own words. */
function wakeReported(
  { said, audience: recipientId }: StepOfWake,
  { messageId, threadId, taskId, priority, taggedConcepts, inReplyTo }: WokenMail,
  count: number,
  { sender, recipient, projectId }: Parties,
): NewEvent {
  const name = nameOfParty(recipient, projectId)
  const reason = reasonIn(said.detail)
  const routing = policiesOf([sender])
  return {
    type: 'wake.reported',
    actor: name,
    actorId: recipientId,
    audience: [sender.id],
    data: {
      messageId,
      threadId,
      ...(taskId === null ? {} : { taskId }),
      recipient: name,
      step: said.step,
      source: sourceKind(said.source),
      at: said.at,
      ...(reason === undefined ? {} : { detail: reason }),
      ...(count === 1 ? {} : { messageCount: count }),
      priority,
      taggedConcepts,
      isReplyTo: inReplyTo,
      ...(routing.policies ? { routing } : {}),
    },
  }
}
