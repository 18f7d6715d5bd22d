import type { JsonObject } from '../../lib/json.ts'
import { oneLine } from '../../lib/words.ts'
import type { AppendEvents } from '../../log/append.ts'
import { gatewayId, gatewayIdentity } from '../../registry/agents/identity.ts'
import type { Announce, SystemSignal } from '../../registry/mail/announcement.ts'
import type { Reader } from '../../storage/database.ts'
import { broadcastAddress } from '../messages/message.ts'
import { putMail } from '../messages/put-mail.ts'

/** Lists the agents of a project that have a live session. */
type ListPresent = (reader: Reader, projectId: string) => Promise<readonly string[]>

/** The most agents that get one announcement: with more, announcing every agent to every other one costs too much. */
const recipientsMax = 100

const subjects: Record<SystemSignal, (payload: JsonObject) => string> = {
  MasterPreempted: ({ new_master_session }) => `A newer session speaks for you: ${new_master_session}`,
  PeerJoined: ({ identity, surface }) => `${identity} is here (${surface})`,
  PeerLeft: ({ identity, reason }) => `${identity} is gone (${reason})`,
}

/**
 * Makes the function that sends the gateway's own signals: mail from `@gateway` for the next turn, without limits. A signal to one
 * session is silent: no wake and no other session gets it. A signal to a project goes to every agent with a live session while
 * there are at most 100 of them; with more, no agent gets it, and `GET /v1/agents` shows the live sessions. Source: S2-7, D26.
 */
export function createAnnounce(append: AppendEvents, listPresent: ListPresent): Announce {
  return async (tx, { projectId, signalType, payload, toAgentId, toSessionId, exceptAgentId }) => {
    const broadcast = toAgentId === 'project'
    const present = broadcast ? await listPresent(tx, projectId) : [toAgentId]
    const recipientIds = [...new Set(present)].filter((id) => id !== exceptAgentId)
    if (recipientIds.length === 0 || (broadcast && recipientIds.length > recipientsMax)) return
    const wakePolicy = toSessionId === undefined ? 'next_turn' : 'silent'
    const { events } = await putMail(tx, {
      projectId,
      from: gatewayIdentity,
      senderId: gatewayId,
      address: broadcast ? broadcastAddress : null,
      broadcast,
      // A surface is one line today, but a session may have been stored before that was checked.
      subject: oneLine(subjects[signalType](payload)),
      signalType,
      payload,
      wakePolicy,
      recipients: recipientIds.map((id) => ({ id, wakePolicy })),
      ...(toSessionId === undefined ? {} : { sessionId: toSessionId }),
    })
    await append(tx, projectId, events)
  }
}
