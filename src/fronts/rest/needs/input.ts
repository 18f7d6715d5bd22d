import { z } from 'zod'
import { line, time } from '../fields.ts'

export const snoozeInput = z.strictObject({
  need: line(300).min(1),
  until: time('must be the instant until which it is put off, in ISO 8601, or null').nullable(),
})
