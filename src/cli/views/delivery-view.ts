import type { Io } from '../io.ts'
import { table } from '../table.ts'

/** One attempt to deliver a wake. */
export interface AttemptView {
  at?: string
  status?: number | null
  durationMs?: number
  error?: string | null
}

/** The record of one wake. */
export interface DeliveryView {
  eventId: string
  eventType?: string
  logIds?: number[] | { from?: number; to?: number }
  attempts?: AttemptView[]
  outcome?: string
}

export function deliveryTable(io: Io, deliveries: readonly DeliveryView[]): string {
  return table(
    io,
    ['EVENT', 'TYPE', 'LOG', 'OUTCOME', 'TRIES', 'LAST TRY'],
    deliveries.map((delivery) => [
      delivery.eventId,
      delivery.eventType,
      logRange(delivery),
      delivery.outcome,
      delivery.attempts?.length,
      delivery.attempts?.length ? attemptText(delivery.attempts.at(-1)!) : undefined,
    ]),
    'Nothing has been delivered yet. Try: rouse sub test <id>',
  )
}

export function attemptText(attempt: AttemptView): string {
  const answer = attempt.error ?? (attempt.status ? `HTTP ${attempt.status}` : 'no answer')
  const duration = attempt.durationMs === undefined ? '' : ` after ${Math.round(attempt.durationMs)} ms`
  return `${answer}${duration}${attempt.at ? ` at ${attempt.at}` : ''}`
}

function logRange({ logIds }: DeliveryView): string {
  const { from, to } = Array.isArray(logIds) ? { from: logIds[0], to: logIds.at(-1) } : (logIds ?? {})
  return from === to ? `${to ?? ''}` : `${from}-${to}`
}
