import { z } from 'zod'
import { sizeLimits } from '../../../limits.ts'
import { overlapMaxSeconds } from '../../../registry/subscriptions/former-keys.ts'
import { triggers } from '../../../words/events.ts'
import { priorities } from '../../../words/policies.ts'
import { chosenTargets, coalesceWindowMax, retryForMax } from '../../../words/targets.ts'
import { notAPageToken } from '../../validate.ts'
import { concepts, count, line, names, oneOf, time } from '../fields.ts'
import { pageFields } from '../page.ts'

const filters = z.strictObject({
  taggedConcepts: concepts.optional(),
  priority: oneOf(priorities).optional(),
  // An identity is written with its @; a handle without it means the same agent.
  senderFilter: names
    .transform((senders) => senders.map((sender) => (sender.includes('@') ? sender : `@${sender}`)))
    .optional(),
  inReplyToFilter: names.optional(),
})

const targetMetadata = z.strictObject({
  url: line(sizeLimits.url.max).optional(),
  coalesceWindow: z
    .number({ error: 'must be a number of seconds from 0 to 300, or null for the default' })
    .min(0, `is seconds, from 0 to ${coalesceWindowMax}`)
    .max(coalesceWindowMax, `is seconds, from 0 to ${coalesceWindowMax}`)
    .nullable()
    .optional(),
  coalesceMode: oneOf(['window', 'leading']).optional(),
  daemonSocketPath: line(1024).optional(),
  reader: line(100).min(1).optional(),
  maxInFlight: z.int().min(1, 'must be a number from 1 to 64').max(64, 'must be a number from 1 to 64').optional(),
  includeOwn: z.boolean().optional(),
  retryForSeconds: z
    .int({ error: 'must be a whole number of seconds' })
    .min(0, `is seconds, from 0 to ${retryForMax} (three days)`)
    .max(retryForMax, `is seconds, from 0 to ${retryForMax} (three days)`)
    .optional(),
  probe: z.boolean().optional(),
  signingKey: z
    .never({ error: 'is made by the gateway. Leave the field out; rotate the key with rotateSigningKey.' })
    .optional(),
})

export const newSubscription = z.strictObject({
  trigger: oneOf(triggers),
  filters: filters.optional(),
  harnessTarget: oneOf(chosenTargets).optional(),
  harnessTargetMetadata: targetMetadata.optional(),
  agentIdentity: line(65).optional(),
  sessionId: line(100).min(1).optional(),
  startFrom: oneOf(['now']).optional(),
})

export const subscriptionChanges = z
  .strictObject({
    trigger: oneOf(triggers).optional(),
    filters: filters.optional(),
    harnessTarget: oneOf(chosenTargets).optional(),
    harnessTargetMetadata: targetMetadata.optional(),
    status: oneOf(['active', 'paused']).optional(),
    rotateSigningKey: z.boolean().optional(),
    overlapSeconds: z.number().min(0).max(overlapMaxSeconds, 'is seconds, at most 604800 (seven days)').optional(),
  })
  .refine(({ overlapSeconds, rotateSigningKey }) => overlapSeconds === undefined || rotateSigningKey === true, {
    path: ['overlapSeconds'],
    error: 'is only allowed with rotateSigningKey: true: it says how long the old key signs too.',
  })

export const subscriptionQuery = z
  .strictObject({ agent: line(65).min(1).optional(), subscriptionId: line(100).min(1).optional(), ...pageFields })
  .refine(({ agent, subscriptionId }) => agent === undefined || subscriptionId === undefined, {
    path: ['agent'],
    error: 'is not needed with subscriptionId, which names one subscription. Leave it out.',
  })

export const resyncInput = z.strictObject({
  sinceLogId: z.int({ error: 'must be the logId of the last wake that was handled: an integer' }).min(0),
})

export const replayInput = z.union(
  [
    z.strictObject({ eventId: line(26).min(1) }),
    z.strictObject({ fromLogId: z.int().min(1), toLogId: z.int().min(1) }),
    z.strictObject({ failedSince: time() }),
  ],
  { error: 'Send one of {eventId}, {fromLogId, toLogId} or {failedSince} (an instant in ISO 8601).' },
)

export const deliveryQuery = z.strictObject({ limit: count(1, 500).optional(), pageToken: line(26).optional() })

export const heldQuery = z.strictObject({
  limit: count(1, 500).optional(),
  pageToken: count(1, Number.MAX_SAFE_INTEGER, notAPageToken).optional(),
})
