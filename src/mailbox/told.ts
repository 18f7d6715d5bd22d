import { isJsonObject, type JsonObject } from '../lib/json.ts'
import type { LogEvent } from '../log/event.ts'
import type { Transaction } from '../storage/database.ts'
import { markPushed } from './waiting-store.ts'

/** What an acknowledged wake told. */
interface Told {
  readonly eventType: string
  readonly payload: JsonObject
  readonly event?: LogEvent
}

interface Wake {
  /** The recipient's id, where it is mail. */
  readonly audience: string
  readonly emission: Told
}

/** Notes, in the transaction that records wakes, that the mail they point at has come across: no other route brings it again. */
export async function markDelivered(tx: Transaction, wakes: readonly Wake[]): Promise<void> {
  const told = wakes.flatMap(({ audience, emission }) =>
    messagesIn(emission).map((messageId) => ({ agentId: audience, messageId })),
  )
  await markPushed(tx, told)
}

/** The messages that a wake points at: one, those that a digest names, or the one that caused a change of a task. */
function messagesIn({ eventType, payload, event }: Told): string[] {
  if (eventType === 'wake/sent_to_me') return [String(payload.messageId)]
  if (eventType === 'wake/digest') {
    const refs = (payload.refs as JsonObject[]).filter((ref) => ref.eventType === 'wake/sent_to_me')
    return refs.map((ref) => String(ref.messageId))
  }
  const message = eventType === 'wake/task_state_changed' ? event?.data.message : undefined
  return isJsonObject(message) ? [String(message.messageId)] : []
}
