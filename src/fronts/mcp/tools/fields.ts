import { z } from 'zod'
import { sizeLimits } from '../../../limits.ts'
import { line } from '../../rest/fields.ts'

/** Arguments that several tools have. */
export const messageId = line(100).min(1).describe('The id of a message: MESSAGE:…')
export const threadId = line(100).min(1).describe('The id of a thread, as messages show it')
export const taskId = line(sizeLimits.id.max).min(1).describe('The id of a task')
export const pageToken = line(500).min(1).describe('nextPageToken of the page before').optional()
export const pageSize = (max: number, usual: number) =>
  z.int().min(1).max(max).describe(`How many at most: 1 to ${max}, usually ${usual}`).optional()
export const idempotencyKey = line(sizeLimits.id.max)
  .min(1)
  .describe(
    'A word of your own for this request. When a call failed without an answer, repeat it with the same key: nothing is sent twice',
  )
  .optional()
