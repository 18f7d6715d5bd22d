import { z } from 'zod'
import { readAudit } from '../../audit/audit-store.ts'
import type { AuditFront, AuditRecord } from '../../audit/entry.ts'
import { Problem } from '../../errors.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import { readLabels } from '../../registry/callers/operator-key-store.ts'
import { notAPageToken } from '../validate.ts'
import { count, line, time } from './fields.ts'
import { instant } from './instant.ts'
import { route } from './route.ts'

const limitDefault = 50

/** A ULID: other texts would name no record. */
const auditId = line(26).regex(/^[0-9A-HJKMNP-TV-Z]{26}$/, notAPageToken)

const auditQuery = z.strictObject({
  project: z
    .literal('*', { error: 'must be *, for every project. Name one project with the header Rouse-Project' })
    .optional(),
  since: time('must be an instant in ISO 8601, e.g. 2026-04-26T10:00:00.000Z').optional(),
  actor: line(200).min(1).optional(),
  operation: line(100).min(1).optional(),
  outcome: line(100).min(1).optional(),
  limit: count(1, 500).optional(),
  pageToken: auditId.optional(),
})

/** An entry of the audit. Instants are ISO 8601. */
export interface AuditRecordView {
  readonly auditId: string
  readonly at: string
  /** When the last of `count` attempts happened. */
  readonly lastAt: string
  readonly project: string | null
  readonly callerId: string | null
  readonly keyId: string | null
  /** The label of an operator key. */
  readonly keyLabel?: string
  /** `@donna`; `''` where nobody was recognised. */
  readonly actor: string
  /** The IP address that the request came from; of a command of the operator (`front: 'cli'`) its user and machine, e.g. `donna@build-7`. */
  readonly address: string
  readonly front: AuditFront
  readonly operation: string
  readonly target: string
  /** `ok`, or the code of a problem; of a command of the operator also `failed` or `incomplete`. */
  readonly outcome: string
  /** How many attempts this record counts. */
  readonly count: number
}

/** `/v1/audit`: who did what, for operators, newest first. */
export const auditRoutes = [
  route('GET /v1/audit', {
    name: 'audit.read',
    what: 'read the audit',
    access: { scope: 'read', operator: 'any', agent: 'never', peer: 'never', audited: 'operator' },
    query: auditQuery,
    handle: async ({ caller, query }, { db }) => {
      const { project, since, limit = limitDefault, ...filter } = query
      const { records, nextPageToken } = await readAudit(db, {
        ...filter,
        limit,
        project: projectOf(caller, project),
        since,
      })
      const labels = await readLabels(
        db,
        records.map(({ keyId }) => keyId),
      )
      return { records: records.map((record) => recordView(record, labels.get(record.keyId))), nextPageToken }
    },
  }),
] as const

/** `*` is every project, and what happened outside of any, such as an unknown key: for an operator of all projects. */
function projectOf(caller: Caller, requested: '*' | undefined): string | undefined {
  if (requested === undefined) return caller.projectId
  if (caller.projects === undefined) return undefined
  throw new Problem('forbidden', {
    field: 'project',
    detail: 'project: only an operator of all projects may read the whole audit.',
    remedy: 'name-project',
  })
}

function recordView(
  { id, at, lastAt, project, callerId, keyId, count, ...rest }: AuditRecord,
  keyLabel: string | undefined,
): AuditRecordView {
  return {
    auditId: id,
    at: instant(at),
    lastAt: instant(lastAt),
    project: project || null,
    callerId: callerId || null,
    keyId: keyId || null,
    ...(keyLabel === undefined ? {} : { keyLabel }),
    ...rest,
    count,
  }
}
