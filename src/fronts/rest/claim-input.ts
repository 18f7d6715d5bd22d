import { z } from 'zod'
import { address, count, line, text } from './fields.ts'

/** The work that is claimed: one line of text. */
const ref = line(500).trim().min(1, 'must name the work: a task, an issue, a commit, a path')
export const claimInput = z.strictObject({ ref })
export const handoffInput = z.strictObject({ ref, to: address, message: text(64_000).optional() })
export const claimQuery = z.strictObject({
  ref: ref.optional(),
  owner: address.optional(),
  limit: count(1, 200).optional(),
  pageToken: line(500).optional(),
})
