import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import type { LogEvent } from '../../log/event.ts'
import type { Transaction } from '../../storage/database.ts'
import { recordWakes } from './waiting-store.ts'

/** The content of an acknowledged wake. */
interface Content {
  readonly eventType: string
  readonly payload: JsonObject
  readonly event?: LogEvent
}

interface Wake {
  /** The recipient's id, where the wake is about mail. */
  readonly audience: string
  readonly emission: Content
}

/** Marks the mail that acknowledged wakes point at as delivered, in the transaction that records the wakes: no other route brings it. */
export async function markDelivered(tx: Transaction, wakes: readonly Wake[]): Promise<void> {
  const delivered = wakes.flatMap(({ audience, emission }) =>
    messageIdsIn(emission).map((messageId) => ({ agentId: audience, messageId })),
  )
  await recordWakes(tx, delivered)
}

/** The messages that a wake points at: one, those that a digest names, or the one that caused a change of a task. */
function messageIdsIn({ eventType, payload, event }: Content): string[] {
  if (eventType === 'wake/sent_to_me') return [String(payload.messageId)]
  if (eventType === 'wake/digest') {
    const refs = (payload.refs as JsonObject[]).filter((ref) => ref.eventType === 'wake/sent_to_me')
    return refs.map((ref) => String(ref.messageId))
  }
  const message = eventType === 'wake/task_state_changed' ? event?.data.message : undefined
  return isJsonObject(message) ? [String(message.messageId)] : []
}
