import { Router } from 'express'
import { readAudit } from '../../audit/audit-store.ts'
import type { AuditRecord } from '../../audit/entry.ts'
import { Problem } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { Reader } from '../../storage/database.ts'
import { callerOf } from '../auth.ts'
import { onlyMethods } from '../method-not-allowed.ts'
import { parse } from '../validate.ts'
import { auditQuery } from './audit-schemas.ts'

const limitDefault = 50

/** `/v1/audit`: who did what, for operators, newest first. */
export function auditRoutes({ db }: { readonly db: Reader }): Router {
  const router = Router()
  router.get('/', async (req, res) => {
    const { project, since, limit = limitDefault, ...filter } = parse(auditQuery, req.query)
    const { records, nextPageToken } = await readAudit(db, {
      ...filter,
      limit,
      project: projectOf(callerOf(res), project),
      since: since === undefined ? undefined : Date.parse(since),
    })
    res.json({ records: records.map(recordView), nextPageToken })
  })
  router.all('/', onlyMethods('GET'))
  return router
}

/** `*` is every project, and what happened in none, such as an unknown key: for an operator of all projects. */
function projectOf(caller: Caller, asked: '*' | undefined): string | undefined {
  if (asked === undefined) return caller.projectId
  if (caller.projects === undefined) return undefined
  throw new Problem('forbidden', {
    field: 'project',
    detail:
      'project: only an operator of all projects may read all of the audit. Name one with the header Rouse-Project.',
  })
}

function recordView({ id, at, lastAt, project, callerId, keyId, count, ...rest }: AuditRecord): JsonObject {
  const instant = (ms: number) => new Date(ms).toISOString()
  return {
    auditId: id,
    at: instant(at),
    lastAt: instant(lastAt),
    project: project || null,
    callerId: callerId || null,
    keyId: keyId || null,
    ...rest,
    count,
  }
}
