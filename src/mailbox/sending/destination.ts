import { Problem } from '../../errors.ts'
import { resolveAddress } from '../../registry/agents/addresses.ts'
import { findAgentById } from '../../registry/agents/agent-store.ts'
import { gatewayId, isOperatorAddress, operatorId } from '../../registry/agents/identity.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { Reader } from '../../storage/database.ts'
import { operatorIdentity } from '../../words/callers.ts'
import type { WakePolicy } from '../../words/policies.ts'
import type { MailMessage } from '../messages/message.ts'

interface MailRecipient {
  readonly id: string
  readonly handle: string
  readonly defaultWakePolicy: WakePolicy
}

/** The recipients of a message. All of them are in one project. */
export interface Destination {
  readonly projectId: string
  readonly address: string
  readonly broadcast: boolean
  readonly recipients: readonly MailRecipient[]
}

/**
 * Resolves the recipients of a message. A reply without an address goes to the sender of the message that it answers; a reply to
 * the caller's own message goes to the recipients of that one. A broadcast does not go to its sender. Source: S2-3, D10.
 */
export async function resolveDestination(
  reader: Reader,
  caller: Caller,
  to: string | undefined,
  answered: MailMessage | undefined,
): Promise<Destination> {
  if (to === undefined && answered) return replyDestination(reader, caller, answered)
  if (to === undefined) {
    throw new Problem('invalid-request', {
      field: 'to',
      detail:
        'to: is required: an address such as @donna, or * for everybody. Only a reply (inReplyTo) needs no address.',
    })
  }
  if (isOperatorAddress(to)) return operatorDestination(caller.projectId)
  const { projectId, agents, broadcast } = await resolveAddress(reader, caller, to, answered?.senderId)
  const recipients = broadcast ? agents.filter(({ id }) => id !== caller.id) : agents
  return { projectId, address: to.trim(), broadcast, recipients }
}

async function replyDestination(reader: Reader, caller: Caller, answered: MailMessage): Promise<Destination> {
  if (answered.senderId === caller.id && answered.address !== null) {
    return resolveDestination(reader, caller, answered.address, undefined)
  }
  if (answered.senderId === operatorId) return operatorDestination(answered.projectId)
  const sender = answered.senderId === caller.id ? undefined : await findAgentById(reader, answered.senderId)
  if (sender) return { projectId: sender.projectId, address: sender.handle, broadcast: false, recipients: [sender] }
  throw new Problem('invalid-request', {
    field: 'to',
    detail: `to: the message that you answer is from ${unanswerable(caller, answered)}. Give an address for the reply.`,
  })
}

function unanswerable(caller: Caller, { senderId }: MailMessage): string {
  if (senderId === gatewayId) return 'the gateway, which reads no mail'
  return senderId === caller.id ? 'you, and has no other recipient' : 'an agent that was removed'
}

function operatorDestination(projectId: string): Destination {
  const operator = { id: operatorId, handle: operatorIdentity, defaultWakePolicy: 'immediate' } as const
  return { projectId, address: operatorIdentity, broadcast: false, recipients: [operator] }
}
