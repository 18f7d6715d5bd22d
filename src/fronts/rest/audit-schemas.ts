import { z } from 'zod'
import { count, line } from './schemas.ts'

/** A ULID: other texts would name no record. */
const auditId = line(26).regex(/^[0-9A-HJKMNP-TV-Z]{26}$/, 'is not one of ours. Send `nextPageToken` as it is.')

/** `GET /v1/audit` */
export const auditQuery = z.strictObject({
  project: z.literal('*', { error: 'is * for every project. Name one with the header Rouse-Project' }).optional(),
  since: z.iso.datetime({ offset: true, error: 'is an instant in ISO 8601, e.g. 2026-04-26T10:00:00.000Z' }).optional(),
  actor: line(200).min(1).optional(),
  operation: line(100).min(1).optional(),
  outcome: line(100).min(1).optional(),
  limit: count(1, 500).optional(),
  pageToken: auditId.optional(),
})
