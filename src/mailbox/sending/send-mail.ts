import { Problem } from '../../errors.ts'
import { newMessageId } from '../../lib/ids.ts'
import type { JsonObject } from '../../lib/json.ts'
import { cutLine, firstLine } from '../../lib/words.ts'
import { isFarAddress, resolveAddress } from '../../registry/agents/addresses.ts'
import { isOperatorAddress } from '../../registry/agents/identity.ts'
import { type Caller, nameIn } from '../../registry/callers/caller.ts'
import { findFirstResult, type Idempotency, keepResult, keyOwner, mailScope } from '../../registry/idempotency.ts'
import type { Receivers, TakeSend } from '../../registry/mail/send-limits.ts'
import type { Transaction } from '../../storage/database.ts'
import type { MessageType } from '../../words/mail.ts'
import type { Priority, WakePolicy } from '../../words/policies.ts'
import type { MailContext } from '../context.ts'
import { type RoutedMail, readWakeRoutes, wakeDeadline } from '../delivery/wake-route.ts'
import { bytesOfMail } from '../messages/mail-bytes.ts'
import type { MailMessage } from '../messages/message.ts'
import { findMessage } from '../messages/message-store.ts'
import { type NewMail, putMail } from '../messages/put-mail.ts'
import { type ReadMail, readMail, rolesInMail } from '../reading/read-mail.ts'
import { type Destination, resolveDestination } from './destination.ts'
import { checkSignal, subjectOfSignal } from './signal-types.ts'

/** Mail as its sender gives it. Every field has a default; a reply needs neither `to` nor a subject. */
export interface MailInput {
  /** An address. A reply without one goes to the sender of the message that it answers. */
  readonly to?: string | undefined
  readonly subject?: string | undefined
  readonly body?: string | undefined
  readonly signalType?: string | undefined
  readonly payload?: JsonObject | undefined
  readonly type?: MessageType | undefined
  readonly ref?: string | undefined
  readonly priority?: Priority | undefined
  readonly wakePolicy?: WakePolicy | undefined
  readonly taggedConcepts?: readonly string[] | undefined
  readonly inReplyTo?: string | undefined
}

interface SendOptions {
  /** Makes a repeat return the message of the first request. */
  readonly idempotency?: Idempotency | undefined
}

const subjectMax = 200

/**
 * Sends mail. Resolves when it is durable, to the message with the state of each recipient. An operator is a person: its mail is
 * a `relay` unless it has another type, and has no limits. Errors: `agent-not-found` and the others of an address,
 * `message-not-found` (of `inReplyTo`), `invalid-request`, `forbidden`, `idempotency-conflict`, `rate-limited`, `storm-breaker`,
 * `recipient-storm`, `quota-exceeded`. Source: S2-9, S2-10, D11.
 */
export async function sendMail(
  context: MailContext,
  caller: Caller,
  input: MailInput,
  { idempotency }: SendOptions = {},
): Promise<ReadMail> {
  if (input.signalType !== undefined) checkSignal(input.signalType, input.payload)
  context.usage.requireRoom(caller)
  const send = () =>
    context.sends.run(caller, async (take) => {
      await lookUpFirst(context, caller, input, idempotency)
      return storeNewMail(context, caller, input, idempotency, take)
    })
  const id = await (idempotency ? context.repeats.run(keyOwner(caller), mailScope, idempotency, send) : send())
  return readMail(context.db, caller, id)
}

/** Stores mail, unless it is a repeat. Resolves to the id of the mail. */
function storeNewMail(
  context: MailContext,
  caller: Caller,
  input: MailInput,
  idempotency: Idempotency | undefined,
  take: TakeSend,
): Promise<string> {
  return context.db.transaction(async (tx) => {
    const first = idempotency && (await findFirstResult(tx, keyOwner(caller), mailScope, idempotency))
    if (first !== undefined) return first
    const answered = input.inReplyTo === undefined ? undefined : await requireAnswered(tx, caller, input.inReplyTo)
    const destination = await resolveDestination(tx, caller, input.to, answered)
    const subject = subjectOf(input, answered)
    await take(tx, receiversOf(destination))
    const id = newMessageId(tx.now)
    // Only a message that is sent uses up its key: a refused one may be repeated.
    if (idempotency) await keepResult(tx, keyOwner(caller), mailScope, idempotency, id)
    const message = await storeMail(context, tx, caller, { id, subject, input, answered, destination })
    context.usage.add(tx, caller, bytesOfMail(message))
    return id
  })
}

/** Returns the message that a reply answers. The caller must be able to see it. */
async function requireAnswered(tx: Transaction, caller: Caller, id: string): Promise<MailMessage> {
  const message = await findMessage(tx, id)
  if (message && (await rolesInMail(tx, caller, message)).sees) return message
  throw new Problem('message-not-found', {
    field: 'inReplyTo',
    detail: `inReplyTo: there is no message ${id}, or it is not yours.`,
    remedy: 'begin-thread',
    extra: { messageId: id },
  })
}

function receiversOf({ recipients, projectId, broadcast, address }: Destination): Receivers {
  const one = recipients.length === 1 ? recipients[0]! : undefined
  const everybody = { id: `*${projectId}`, identity: address }
  return { peer: broadcast ? everybody : one && { id: one.id, identity: one.handle }, recipients: recipients.length }
}

interface Outgoing {
  readonly id: string
  readonly subject: string
  readonly input: MailInput
  readonly answered: MailMessage | undefined
  readonly destination: Destination
}

async function storeMail(
  context: MailContext,
  tx: Transaction,
  caller: Caller,
  outgoing: Outgoing,
): Promise<MailMessage> {
  const { id, subject, input, answered, destination } = outgoing
  const { recipients, projectId, broadcast, address } = destination
  const one = recipients.length === 1 && !broadcast ? recipients[0] : undefined
  const session = one && (await context.findSession(tx, one.id))
  const senderSession = caller.kind === 'agent' ? await context.findSession(tx, caller.id) : undefined
  const { body, signalType, payload, ref, priority = 'normal', taggedConcepts = [] } = input
  const mail = {
    id,
    projectId,
    from: nameIn(projectId, caller),
    senderId: caller.id,
    person: caller.name ?? null,
    senderSession: senderSession?.id,
    address,
    broadcast,
    subject,
    body,
    type: input.type ?? (caller.kind === 'operator' ? 'relay' : 'msg'),
    signalType,
    payload,
    ref,
    priority,
    wakePolicy: input.wakePolicy ?? one?.defaultWakePolicy ?? 'immediate',
    taggedConcepts,
    inReplyTo: answered?.id ?? null,
    threadId: answered?.threadId ?? id,
    recipients: recipients.map(({ id, defaultWakePolicy }) => ({
      id,
      wakePolicy: input.wakePolicy ?? defaultWakePolicy,
    })),
    sessionId: session?.id,
  } satisfies NewMail
  const isRouted = session !== undefined || (one !== undefined && (await isWokenFor(tx, one.id, mail)))
  const { message, events } = await putMail(tx, { routed: isRouted, ...mail })
  await context.append(tx, projectId, events)
  return message
}

async function isWokenFor(tx: Transaction, agentId: string, mail: Omit<RoutedMail, 'createdAt'>): Promise<boolean> {
  if (mail.wakePolicy !== 'immediate') return false
  return wakeDeadline(await readWakeRoutes(tx, agentId), { createdAt: tx.now, ...mail }) !== undefined
}

/** Returns the given subject, or one made from the signal, the answered message, or the first line of the body. */
function subjectOf({ subject, signalType, payload, body }: MailInput, answered: MailMessage | undefined): string {
  if (subject !== undefined && subject.trim() !== '') return subject.trim()
  if (signalType !== undefined) return cutLine(subjectOfSignal(signalType, payload), subjectMax)
  if (answered) return cutLine(`Re: ${answered.subject.replace(/^(Re: )+/, '')}`, subjectMax)
  const line = firstLine(body ?? '')
  if (line) return cutLine(line, subjectMax)
  throw new Problem('invalid-request', {
    field: 'subject',
    detail:
      'subject: is required: one line that says what the message is about. Only a reply or a signal needs no subject.',
  })
}

interface AddressFields {
  readonly to?: string | undefined
  readonly inReplyTo?: string | undefined
}

/**
 * Refuses before the write transaction who is beyond its rate, whatever the address, and then a wrong address, because other writers would
 * wait for the look-up. It looks up addresses that take a search, and addresses in other projects; the transaction looks them up again. A
 * reply needs no look-up: its recipient is the sender of the message that it answers. The transaction answers a repeated request.
 * Errors: `rate-limited`, those of an address.
 */
async function lookUpFirst(
  { db, sends }: Pick<MailContext, 'db' | 'sends'>,
  caller: Caller,
  { to, inReplyTo }: AddressFields,
  idempotency: Idempotency | undefined,
): Promise<void> {
  try {
    sends.check(caller)
    if (to === undefined || inReplyTo !== undefined || isOperatorAddress(to) || !isFarAddress(caller, to)) return
    await resolveAddress(db, caller, to)
  } catch (error) {
    const isRepeat = idempotency && (await findFirstResult(db, keyOwner(caller), mailScope, idempotency)) !== undefined
    if (!isRepeat) throw error
  }
}
