import { z } from 'zod'
import { openLimits } from '../../../gateway-limits.ts'
import { inputLimits } from '../../../limits.ts'
import { streamCapabilities } from '../../../registry/subscriptions/stream-capabilities.ts'
import { receiptSteps } from '../../../words/receipts.ts'
import { line, oneOf, time } from '../fields.ts'

const { max } = openLimits.streamSubscriptions
const listOf = <Item extends z.ZodType>(item: Item) =>
  z.union([item.transform((one) => [one]), z.array(item).min(1).max(max, `names at most ${max}`)])

/** `?subscription=WAKE_SUB:…` and `&capabilities=append-only`, each given once or repeated. */
export const wakeStreamQuery = z.strictObject({
  subscription: listOf(line(100).min(1)).transform((ids) => [...new Set(ids)]),
  capabilities: z
    .union(
      [oneOf(streamCapabilities).transform((word) => [word]), z.array(oneOf(streamCapabilities)).min(1).max(max)],
      `is one of ${streamCapabilities.join(', ')}, once or repeated`,
    )
    .transform((words) => [...new Set(words)])
    .optional(),
})

export const receiptsInput = z
  .array(
    z
      .strictObject({
        eventId: line(26).min(1),
        step: oneOf(receiptSteps),
        at: time().optional(),
        detail: line(inputLimits.receiptDetail.max).optional(),
        source: line(inputLimits.receiptSource.max).optional(),
        isFinal: z.boolean().optional(),
      })
      .refine(({ step, isFinal }) => !isFinal || step === 'written', {
        path: ['isFinal'],
        error: 'goes with the step written: every stronger step, and every end, is final by itself. Leave it out.',
      }),
  )
  .min(1, 'must have at least one receipt')
  .max(openLimits.receipts.max, `has at most ${openLimits.receipts.max} receipts`)
