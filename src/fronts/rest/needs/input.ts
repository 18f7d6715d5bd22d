import { z } from 'zod'
import { needKinds } from '../../../needs/need.ts'
import { urgencies } from '../../../needs/urgency.ts'
import { address, line, oneOf, time } from '../fields.ts'
import { pageFields } from '../page.ts'

export const needQuery = z.strictObject({
  urgency: oneOf(urgencies).optional(),
  kind: oneOf(needKinds).optional(),
  agent: address.optional(),
  ...pageFields,
})

export const snoozeInput = z.strictObject({
  need: line(300).min(1),
  until: time('must be the instant until which it is put off, in ISO 8601, or null').nullable(),
})
