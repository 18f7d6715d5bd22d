import type { JsonObject } from '../../lib/json.ts'
import { oneLine } from '../../lib/words.ts'
import type { AppendEvents } from '../../log/append.ts'
import type { Reader, Transaction } from '../../storage/database.ts'
import { broadcastAddress, gatewayId } from '../messages/message.ts'
import { putMail } from '../messages/put-mail.ts'
import type { SystemSignal } from './signal-types.ts'

/** What the gateway has to say, to one agent or to those of a project that are there. */
export interface Announcement {
  readonly projectId: string
  readonly signalType: SystemSignal
  /** As S2-7 has it. */
  readonly payload: JsonObject
  readonly toAgentId: string
  readonly exceptAgentId?: string | undefined
}

/** Says it, within the transaction of what happened: call it last. */
export type Announce = (tx: Transaction, announcement: Announcement) => Promise<void>

/** The agents of a project that have a live session. */
export type ListPresent = (reader: Reader, projectId: string) => Promise<readonly string[]>

/** A room in which everybody still hears who comes and goes: telling each of each costs the square of it. */
const roomMax = 100

const subjects: Record<SystemSignal, (payload: JsonObject) => string> = {
  MasterPreempted: ({ new_master_session }) => `A newer session speaks for you: ${new_master_session}`,
  PeerJoined: ({ identity, surface }) => `${identity} is here (${surface})`,
  PeerLeft: ({ identity, reason }) => `${identity} is gone (${reason})`,
}

/**
 * Makes the gateway's own voice: signals as mail from `@gateway`, for the next turn, without limits. `toAgentId: 'project'` is
 * everybody with a live session, while those are at most 100: who comes later, or to more, finds out by looking who is there.
 * Source: S2-7.
 */
export function createAnnounce(append: AppendEvents, listPresent: ListPresent): Announce {
  return async (tx, { projectId, signalType, payload, toAgentId, exceptAgentId }) => {
    const broadcast = toAgentId === 'project'
    const present = broadcast ? await listPresent(tx, projectId) : [toAgentId]
    const recipientIds = [...new Set(present)].filter((id) => id !== exceptAgentId)
    if (recipientIds.length === 0 || (broadcast && recipientIds.length > roomMax)) return
    const { events } = await putMail(tx, {
      projectId,
      from: '@gateway',
      senderId: gatewayId,
      senderSession: null,
      address: broadcast ? broadcastAddress : null,
      broadcast,
      // What it names was checked when it was told; a session may be older than the check.
      subject: oneLine(subjects[signalType](payload)),
      body: null,
      type: 'msg',
      signalType,
      payload,
      ref: null,
      taskId: null,
      taskSeq: null,
      priority: 'normal',
      wakePolicy: 'next_turn',
      taggedConcepts: [],
      inReplyTo: null,
      threadId: null,
      recipients: recipientIds.map((id) => ({ id, wakePolicy: 'next_turn' })),
    })
    await append(tx, projectId, events)
  }
}
