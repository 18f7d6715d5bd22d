import type { Command } from 'commander'
import type { Io } from '../../client/io.ts'
import type { AuditRecordView } from '../../client/route-types.ts'
import { integer } from '../options/option-values.ts'
import { table } from '../output/table.ts'
import { when } from '../output/when.ts'
import { clientCommand, connect } from '../run/client-command.ts'

interface AuditOptions {
  since?: string
  actor?: string
  operation?: string
  outcome?: string
  limit?: number
  all?: true
  pageToken?: string
}

/** `rouse audit`: who did what, with the operator's key. */
export function registerAudit(program: Command, io: Io): void {
  clientCommand(program, 'audit', "show who did what, with the operator's key, newest first", [
    'rouse audit',
    'rouse audit --operation key.make --since 2026-04-26T00:00:00Z',
    'rouse audit --all --outcome unauthenticated   # unknown keys, with the address that they came from',
  ])
    .option('--since <instant>', 'only what happened since this instant, e.g. 2026-04-26T10:00:00Z')
    .option('--actor <identity>', 'only what this caller did, e.g. @donna')
    .option('--operation <name>', 'only this operation, e.g. agent.remove or SendMessage')
    .option('--outcome <code>', "only this outcome: ok, or a problem's code such as forbidden")
    .option('--limit <n>', 'the largest number of rows (default: 50)', integer(1, 500))
    .option('--all', 'records of all projects, and records that belong to none')
    .option('--page-token <token>', 'the next page: the token at the end of the previous page')
    .action(async ({ all, pageToken, ...filter }: AuditOptions, command: Command) => {
      const { gateway, print } = connect(io, command)
      const { since, actor, operation, outcome, limit } = filter
      const query = { since, actor, operation, outcome, limit, project: all && '*', pageToken }
      const answer = await gateway.call('GET /v1/audit', { query })
      print.result(answer, () => auditTable(io, answer.records))
      if (answer.nextPageToken && !print.json) print.note(`There is more: --page-token ${answer.nextPageToken}`)
    })
}

function auditTable(io: Io, records: readonly AuditRecordView[]): string {
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
    ['TIMES', 'BY', 'FROM', 'KEY'],
  )
}
