import { z } from 'zod'
import { address, count, line, oneOf, time } from '../fields.ts'

/** `failed`: given up or refused. `retrying`: it has failed, and is tried again. */
const outcomes = ['failed', 'retrying', 'pending', 'delivered', 'written'] as const

export const deliveriesQuery = z.strictObject({
  agent: address.optional(),
  subscription: line(100).min(1).optional(),
  outcome: oneOf(outcomes).optional(),
  endedAfter: time().optional(),
  endedBefore: time().optional(),
  limit: count(1, 200).optional(),
  pageToken: line(26).optional(),
})
