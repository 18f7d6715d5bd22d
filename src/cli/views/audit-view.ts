import type { Io } from '../io.ts'
import { table } from '../table.ts'

/** Who did what. */
export interface AuditView {
  auditId: string
  at?: string
  actor?: string
  keyId?: string | null
  address?: string
  front?: string
  operation?: string
  target?: string
  outcome?: string
  count?: number
}

export function auditTable(io: Io, records: readonly AuditView[]): string {
  return table(
    io,
    ['AT', 'WHO', 'KEY', 'FROM', 'BY', 'OPERATION', 'OUTCOME', 'TIMES', 'TARGET'],
    records.map((record) => [
      record.at,
      record.actor || 'nobody',
      record.keyId,
      record.address,
      record.front,
      record.operation,
      record.outcome,
      record.count,
      record.target,
    ]),
    'The audit has nothing like it.',
  )
}
