import { Problem } from '../../errors.ts'
import { resolveAddress } from '../../registry/agents/addresses.ts'
import type { WakePolicy } from '../../registry/agents/agent.ts'
import { findAgentById } from '../../registry/agents/agent-store.ts'
import { gatewayId, isOperatorAddress, operatorId, operatorIdentity } from '../../registry/agents/identity.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { Reader } from '../../storage/database.ts'
import type { MailMessage } from '../messages/message.ts'

interface MailRecipient {
  readonly id: string
  readonly handle: string
  readonly defaultWakePolicy: WakePolicy
}

/** Where mail goes: into one project, to everybody whom its address names. */
export interface Destination {
  readonly projectId: string
  readonly address: string
  readonly broadcast: boolean
  readonly recipients: readonly MailRecipient[]
}

/**
 * Whom a message is for. A reply without an address goes to whoever sent what it answers, and one to mail of the caller's own
 * to where that went. Nobody is sent a broadcast of their own. Source: S2-3, D10.
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
        'to: is required: an address such as @donna, or * for everybody. A reply (inReplyTo) goes back by itself.',
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
  const why = answered.senderId === gatewayId ? 'the gateway, which reads no mail' : 'nobody who can be answered'
  throw new Problem('invalid-request', {
    field: 'to',
    detail: `to: what you answer was sent by ${why}. Say whom the reply is for.`,
  })
}

function operatorDestination(projectId: string): Destination {
  const operator = { id: operatorId, handle: operatorIdentity, defaultWakePolicy: 'immediate' } as const
  return { projectId, address: operatorIdentity, broadcast: false, recipients: [operator] }
}
