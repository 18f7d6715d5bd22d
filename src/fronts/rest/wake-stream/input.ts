import { z } from 'zod'
import { sizeLimits } from '../../../limits.ts'
import { streamCapabilities } from '../../../registry/subscriptions/stream-capabilities.ts'
import { subscriptionsMax } from '../../../wake-stream/open-cost.ts'
import { receiptSteps } from '../../../words/receipts.ts'
import { line, oneOf, time } from '../fields.ts'

const listOf = <Item extends z.ZodType>(item: Item) =>
  z.union([
    item.transform((one) => [one]),
    z.array(item).min(1).max(subscriptionsMax, `names at most ${subscriptionsMax}`),
  ])

/** `?subscription=WAKE_SUB:…` and `&capabilities=append-only`, each given once or repeated. */
export const wakeStreamQuery = z.strictObject({
  subscription: listOf(line(100).min(1)).transform((ids) => [...new Set(ids)]),
  capabilities: z
    .union(
      [
        oneOf(streamCapabilities).transform((word) => [word]),
        z.array(oneOf(streamCapabilities)).min(1).max(subscriptionsMax),
      ],
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
        detail: line(500).optional(),
        source: line(sizeLimits.id.max).optional(),
        isFinal: z.boolean().optional(),
      })
      .refine(({ step, isFinal }) => !isFinal || step === 'written', {
        path: ['isFinal'],
        error: 'goes with the step written: every stronger step, and every end, is final by itself. Leave it out.',
      }),
  )
  .min(1, 'must have at least one receipt')
  .max(sizeLimits.items.max, `has at most ${sizeLimits.items.max} receipts`)
