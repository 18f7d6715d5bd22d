import type { Io } from '../../client/io.ts'
import type { AuditRecordView } from '../../client/route-types.ts'
import { table } from './table.ts'
import { when } from './when.ts'

export function auditTable(io: Io, records: readonly AuditRecordView[]): string {
  return table(
    io,
    ['AT', 'WHO', 'KEY', 'FROM', 'BY', 'OPERATION', 'OUTCOME', 'TIMES', 'TARGET'],
    records.map((record) => [
      when(io, record.at),
      record.actor || 'nobody',
      record.keyLabel ?? record.keyId,
      record.address,
      record.front,
      record.operation,
      record.outcome,
      record.count,
      record.target,
    ]),
    'The audit has no such record.',
  )
}
