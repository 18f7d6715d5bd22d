import { z } from 'zod'
import { isOneLine, isStorable } from '../../lib/words.ts'
import { inputLimits, pageLimits } from '../../limits.ts'
import { triggers } from '../../log/event.ts'
import { accessLevels, contactPolicies, priorities, wakePolicies } from '../../registry/agents/agent.ts'
import { permissionScopes } from '../../registry/permissions/permission-store.ts'
import { coalesceWindowMax } from '../../registry/subscriptions/subscription.ts'
import { harnessTargets } from '../../registry/subscriptions/targets.ts'
import { type LimitName, projectLimits } from '../../share-limits.ts'

/** Text of any number of lines, as both stores and UTF-8 can carry it. */
export const text = (max: number) =>
  z.string().max(max).refine(isStorable, 'holds U+0000 or half of a surrogate pair. Take it out.')
/** Text of one line: what a terminal or a model shows is what it says. */
export const line = (max: number) =>
  z
    .string()
    .max(max)
    .refine(isOneLine, 'is one line of text: no line breaks, no control or bidirectional characters. Take them out.')
/** A number in a query string: digits and nothing else, so that an empty value is not taken for 0. */
export function count(min: number, max: number, error = `is a number from ${min} to ${max}`) {
  return z
    .string({ error })
    .regex(/^\d{1,16}$/, error)
    .transform(Number)
    .refine((value) => value >= min && value <= max, error)
}
/** One of a list of words; the answer to any other tells the list. */
export function oneOf<const Word extends string>(words: readonly Word[]) {
  const list = `one of ${words.join(', ')}`
  return z.enum(words, { error: ({ input }) => (input === undefined ? `is required: ${list}` : `is ${list}`) })
}
export const names = z.array(line(200).min(1)).max(100)
/** What a message is about. All of it travels with the message, in its events and past every filter. */
export const concepts = z
  .array(line(inputLimits.concept.max).min(1))
  .max(inputLimits.concepts.max)
  .refine((list) => bytesOf(list) <= inputLimits.conceptsBytes.max, {
    error: `are more than ${inputLimits.conceptsBytes.max} bytes together. Send fewer, or shorter ones.`,
  })

function bytesOf(list: readonly string[]): number {
  return list.reduce((bytes, one) => bytes + Buffer.byteLength(one), 0)
}

const skill = z.strictObject({
  id: line(100).min(1),
  name: line(200).min(1),
  description: text(2000).optional(),
  tags: names.optional(),
  examples: z.array(text(2000)).max(20).optional(),
  inputModes: names.optional(),
  outputModes: names.optional(),
})

const agentFields = {
  displayName: line(100).nullable().optional(),
  description: text(4000).nullable().optional(),
  aliases: z.array(line(65)).max(20).optional(),
  skills: z.array(skill).max(100).optional(),
  inputModes: names.optional(),
  outputModes: names.optional(),
  access: oneOf(accessLevels).optional(),
  contactPolicy: oneOf(contactPolicies).optional(),
  defaultWakePolicy: oneOf(wakePolicies).optional(),
}
/** `POST /v1/agents` */
export const agentInput = z.strictObject({ handle: line(65).min(1), project: line(40).optional(), ...agentFields })
/** `PATCH /v1/agents/{handle}` */
export const agentChanges = z.strictObject(agentFields)

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
  url: line(inputLimits.url.max).optional(),
  coalesceWindow: z
    .number({ error: 'is seconds: a number from 0 to 300, or null for the default' })
    .min(0, `is seconds, from 0 to ${coalesceWindowMax}`)
    .max(coalesceWindowMax, `is seconds, from 0 to ${coalesceWindowMax}`)
    .nullable()
    .optional(),
  coalesceMode: oneOf(['window', 'leading']).optional(),
  daemonSocketPath: line(1024).optional(),
  maxInFlight: z.int().min(1, 'is a number from 1 to 64').max(64, 'is a number from 1 to 64').optional(),
  signingKey: z.never({ error: 'is made by the gateway. Leave it out; rotate with rotateSigningKey.' }).optional(),
})
/** `POST /v1/wake-subscriptions` */
export const subscribeInput = z.strictObject({
  trigger: oneOf(triggers),
  filters: filters.optional(),
  harnessTarget: oneOf(harnessTargets).optional(),
  harnessTargetMetadata: targetMetadata.optional(),
  agentIdentity: line(65).optional(),
  sessionId: line(100).min(1).optional(),
})
/** A page of a list. */
const page = { limit: count(1, pageLimits.listPage.max).optional(), pageToken: line(500).optional() }
/** `GET /v1/agents` and `GET /v1/agents/{handle}/keys` */
export const listQuery = z.object(page)
/** `GET /v1/wake-subscriptions` */
export const subscriptionQuery = z.strictObject({ agent: line(65).min(1).optional(), ...page })
/** `PATCH /v1/wake-subscriptions/{id}` */
export const updateInput = z
  .strictObject({
    trigger: oneOf(triggers).optional(),
    filters: filters.optional(),
    harnessTargetMetadata: targetMetadata.optional(),
    status: oneOf(['active', 'paused']).optional(),
    rotateSigningKey: z.boolean().optional(),
    overlapSeconds: z
      .number()
      .min(0)
      .max(7 * 24 * 3600, 'is seconds, at most 604800 (seven days)')
      .optional(),
  })
  .refine(({ overlapSeconds, rotateSigningKey }) => overlapSeconds === undefined || rotateSigningKey === true, {
    path: ['overlapSeconds'],
    error: 'says how long the old key signs beside a new one. Send it with rotateSigningKey: true, or leave it out.',
  })
/** `POST /v1/wake-subscriptions/{id}/replay`: one of three */
export const replayInput = z.union(
  [
    z.strictObject({ eventId: line(26).min(1) }),
    z.strictObject({ fromLogId: z.int().min(1), toLogId: z.int().min(1) }),
    z.strictObject({ failedSince: z.iso.datetime({ offset: true }).transform((at) => Date.parse(at)) }),
  ],
  { error: 'Say what to send again: {eventId}, {fromLogId, toLogId} or {failedSince} (an instant in ISO 8601).' },
)
/** `POST /v1/wake-subscriptions/{id}/resync` */
export const resyncInput = z.strictObject({
  sinceLogId: z.int({ error: 'is the logId of the last wake that was handled: an integer' }).min(0),
})

/** An agent of this project, or of another as `web:@donna`. */
const address = line(110).min(1)
/** `POST /v1/permissions` */
export const permissionInput = z.strictObject({
  grantee: address,
  scope: oneOf(permissionScopes),
  grantor: line(65).optional(),
})
/** `GET /v1/permissions` */
export const permissionQuery = z.strictObject({
  scope: oneOf(permissionScopes).optional(),
  grantor: address.optional(),
  grantee: address.optional(),
  ...page,
})
const numberMax = Number.MAX_SAFE_INTEGER
const limitValue = z
  .int({ error: 'is a number (0: no limit), or null for the default' })
  .min(0, 'is 0 (no limit) or more')
  .max(numberMax)
  .nullable()
const limitNames = Object.keys(projectLimits) as LimitName[]
const limitFields = Object.fromEntries(limitNames.map((name) => [name, limitValue.optional()])) as Record<
  LimitName,
  z.ZodOptional<typeof limitValue>
>
/** `PATCH /v1/projects/{id}` */
export const projectChanges = z.strictObject({ limits: z.strictObject(limitFields) })
/** `POST /v1/projects` */
export const projectInput = z.strictObject({ project: line(40).min(1) })
/** What a claim is on: a task, an issue, a commit, a path; one line of text. */
const ref = line(500).trim().min(1, 'names what is worked on: a task, an issue, a commit, a path')
/** `POST /v1/claims` and `DELETE /v1/claims` */
export const claimInput = z.strictObject({ ref })
/** `DELETE /v1/claims`, where the ref may be in the query instead. */
export const releaseBody = claimInput.partial()
/** `POST /v1/claims/handoff` */
export const handoffInput = z.strictObject({ ref, to: address, message: text(64_000).optional() })
/** `GET /v1/claims` */
export const claimQuery = z.strictObject({
  ref: ref.optional(),
  owner: address.optional(),
  limit: count(1, 200).optional(),
  pageToken: line(500).optional(),
})
/** `GET /v1/events` */
export const eventsQuery = z.strictObject({
  since: count(0, Number.MAX_SAFE_INTEGER, 'is a logId: an integer').optional(),
  limit: count(1, 1000).optional(),
})
/** `GET /v1/wake-subscriptions/{id}/deliveries` */
export const deliveriesQuery = z.strictObject({
  limit: count(1, 500).optional(),
  pageToken: line(26).optional(),
})
/** `GET /v1/catalog` */
export const catalogQuery = z.strictObject({
  skill: line(200).optional(),
  tag: line(200).optional(),
  q: line(500).optional(),
  limit: count(1, 200).optional(),
  pageToken: line(200).optional(),
})
