import { z } from 'zod'
import { count, line } from './fields.ts'

export const catalogQuery = z.strictObject({
  skill: line(200).optional(),
  tag: line(200).optional(),
  q: line(500).optional(),
  limit: count(1, 200).optional(),
  pageToken: line(200).optional(),
})

export const aiCatalogQuery = z.object({ after: line(200).optional() })
