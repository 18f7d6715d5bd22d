import type { AppendEvents } from '../../log/append.ts'
import type { NewEvent } from '../../log/event.ts'
import { gatewayId } from '../../registry/agents/identity.ts'
import { nameOfParty, type Party, partyOf, policiesOf } from '../../registry/agents/party.ts'
import type { Reader, Transaction } from '../../storage/database.ts'
import { RowsStatement } from '../../storage/rows.ts'
import { joined, sql } from '../../storage/statement.ts'
import type { OnStep, StepOfWake } from '../../wakes/on-step.ts'
import { provesTurn } from '../../wakes/rules/sender-view.ts'
import { reasonIn, sourceKind } from '../../words/sender-view.ts'
import { threadColumn } from '../messages/message-store.ts'
import { recordWakes } from './waiting-store.ts'
import { newerEvidence, type WakeEvidence } from './wake-evidence.ts'

// A cross join makes SQLite start from the pairs and look each one up in the table.
const found = new RowsStatement<Row>(
  'text text',
  (
    rows,
  ) => sql`select m.id as "messageId", m.sender_id as "senderId", m.project_id as "projectId", ${threadColumn} as "threadId",
    m.task_id as "taskId", m.priority, m.tagged_concepts as "taggedConcepts", m.in_reply_to as "inReplyTo", r.wake
  from (values ${rows}) v cross join message_recipient r cross join message m
  where r.agent_id = ${joined('v.column1')} and r.message_id = ${joined('v.column2')} and m.id = ${joined('v.column2')}`,
)

const save = new RowsStatement(
  'text text text bigint',
  (rows) => sql`update message_recipient set wake = v.column3,
    receipt = case when v.column4 = 1 and receipt in ('accepted', 'routed', 'written') then 'turn_started' else receipt end
  from (values ${rows}) v where agent_id = ${joined('v.column1')} and message_id = ${joined('v.column2')}`,
)

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

/** A message that a wake announced to its recipient. */
interface WokenMail {
  readonly messageId: string
  readonly senderId: string
  readonly projectId: string
  readonly threadId: string
  readonly taskId: string | null
  readonly priority: string
  readonly taggedConcepts: readonly string[]
  readonly inReplyTo: string | null
  /** The evidence of its newest wake. */
  readonly wake: WakeEvidence | null
}

interface Row extends Omit<WokenMail, 'wake' | 'taggedConcepts'> {
  wake: string | null
  taggedConcepts: string
}

/** Returns those of the messages that an agent has, in the order of their ids. */
async function findWokenMail(db: Reader, agentId: string, messageIds: readonly string[]): Promise<WokenMail[]> {
  const rows = await found.all(
    db,
    messageIds.map((messageId) => [agentId, messageId]),
  )
  return rows
    .map(({ wake, taggedConcepts, ...row }) => ({
      taggedConcepts: JSON.parse(taggedConcepts) as string[],
      wake: wake === null ? null : (JSON.parse(wake) as WakeEvidence),
      ...row,
    }))
    .sort((one, other) => (one.messageId < other.messageId ? -1 : 1))
}

/** Puts evidence down to messages of an agent. `isTurn`: it proves that a turn began with them. */
async function saveEvidence(
  tx: Transaction,
  agentId: string,
  evidence: readonly { readonly messageId: string; readonly wake: WakeEvidence; readonly isTurn: boolean }[],
): Promise<void> {
  await save.run(
    tx,
    evidence.map(({ messageId, wake, isTurn }) => [agentId, messageId, JSON.stringify(wake), isTurn ? 1 : 0]),
  )
}
