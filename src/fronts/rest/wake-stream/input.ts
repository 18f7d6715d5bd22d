import { z } from 'zod'
import { openLimits } from '../../../limits.ts'
import { receiptSteps } from '../../../wakes/rules/receipts.ts'
import { line, oneOf, time } from '../fields.ts'

const { max } = openLimits.streamSubscriptions
const listOf = <Item extends z.ZodType>(item: Item) =>
  z.union([item.transform((one) => [one]), z.array(item).min(1).max(max, `names at most ${max}`)])

/** `?subscription=WAKE_SUB:…`, given once or repeated; `&capabilities=spawn`: the reader starts a process for each wake. */
export const wakeStreamQuery = z.strictObject({
  subscription: listOf(line(100).min(1)).transform((ids) => [...new Set(ids)]),
  capabilities: listOf(oneOf(['spawn'])).optional(),
})

export const receiptsInput = z
  .array(
    z.strictObject({
      eventId: line(26).min(1),
      step: oneOf(receiptSteps),
      at: time().optional(),
      detail: line(500).optional(),
    }),
  )
  .min(1, 'must have at least one receipt')
  .max(openLimits.receipts.max, `has at most ${openLimits.receipts.max} receipts`)
