import type { AttemptView, DeliveryView, HeldView } from '../../fronts/rest/wake-subscriptions/view.ts'
import type { Io } from '../io.ts'
import { table } from '../table.ts'
import { when } from '../when.ts'

export function deliveryTable(io: Io, deliveries: readonly DeliveryView[]): string {
  return table(
    io,
    ['EVENT', 'TYPE', 'LOG', 'OUTCOME', 'TRIES', 'LAST TRY'],
    deliveries.map((delivery) => [
      delivery.eventId,
      delivery.eventType,
      logRange(delivery),
      delivery.outcome,
      delivery.attempts.length,
      delivery.attempts.length > 0 ? attemptText(io, delivery.attempts.at(-1)!) : undefined,
    ]),
    'Nothing has been delivered yet. Try: rouse sub test <id>',
  )
}

export function heldTable(io: Io, held: readonly HeldView[]): string {
  return table(
    io,
    ['LOG', 'TYPE', 'DECISION', 'REASON', 'PRESENCE', 'MESSAGE OR TASK', 'AT'],
    held.map(({ logId, type, action, reason, presence, messageId, taskId, createdAt }) => [
      logId,
      type,
      action,
      reason,
      presence,
      messageId ?? taskId,
      when(io, createdAt),
    ]),
    'Nothing was held.',
  )
}

export function attemptText(io: Io, { error, status, durationMs, at }: AttemptView): string {
  const answer = error ?? (status === null ? 'no answer' : `HTTP ${status}`)
  return `${answer} after ${Math.round(durationMs)} ms${io.columns === undefined ? ' at' : ','} ${when(io, at)}`
}

function logRange({ logIds }: DeliveryView): string {
  return logIds.join('-')
}
