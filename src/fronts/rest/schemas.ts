import { z } from 'zod'
import { triggers } from '../../log/event.ts'
import { accessLevels, contactPolicies, priorities, wakePolicies } from '../../registry/agent.ts'
import { permissionScopes } from '../../registry/permission-store.ts'
import { coalesceWindowMax, harnessTargets } from '../../registry/subscription.ts'
import { taskStates } from '../../tasks/state.ts'

export const text = (max: number) => z.string().max(max)
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
export const names = z.array(text(200).min(1)).max(100)

const skill = z.strictObject({
  id: text(100).min(1),
  name: text(200).min(1),
  description: text(2000).optional(),
  tags: names.optional(),
  examples: z.array(text(2000)).max(20).optional(),
  inputModes: names.optional(),
  outputModes: names.optional(),
})

const agentFields = {
  displayName: text(100).nullable().optional(),
  description: text(4000).nullable().optional(),
  aliases: z.array(text(65)).max(20).optional(),
  skills: z.array(skill).max(100).optional(),
  inputModes: names.optional(),
  outputModes: names.optional(),
  access: oneOf(accessLevels).optional(),
  contactPolicy: oneOf(contactPolicies).optional(),
  defaultWakePolicy: oneOf(wakePolicies).optional(),
}
/** `POST /v1/agents` */
export const agentInput = z.strictObject({ handle: text(65).min(1), project: text(40).optional(), ...agentFields })
/** `PATCH /v1/agents/{handle}` */
export const agentChanges = z.strictObject(agentFields)
/** `POST /v1/agents/{handle}/keys` */
export const keyInput = z.strictObject({ label: text(100).nullable().optional() })

const filters = z.strictObject({
  taggedConcepts: names.optional(),
  priority: oneOf(priorities).optional(),
  // An identity is written with its @; a handle without it means the same agent.
  senderFilter: names
    .transform((senders) => senders.map((sender) => (sender.includes('@') ? sender : `@${sender}`)))
    .optional(),
  inReplyToFilter: names.optional(),
})
const targetMetadata = z.strictObject({
  url: text(2048).optional(),
  coalesceWindow: z
    .number({ error: 'is seconds: a number from 0 to 300, or null for the default' })
    .min(0, `is seconds, from 0 to ${coalesceWindowMax}`)
    .max(coalesceWindowMax, `is seconds, from 0 to ${coalesceWindowMax}`)
    .nullable()
    .optional(),
  coalesceMode: oneOf(['window', 'leading']).optional(),
  daemonSocketPath: text(1024).optional(),
  maxInFlight: z.int().min(1, 'is a number from 1 to 64').max(64, 'is a number from 1 to 64').optional(),
  signingKey: z.never({ error: 'is made by the gateway. Leave it out; rotate with rotateSigningKey.' }).optional(),
})
/** `POST /v1/wake-subscriptions` */
export const subscribeInput = z.strictObject({
  trigger: oneOf(triggers),
  filters: filters.optional(),
  harnessTarget: oneOf(harnessTargets).optional(),
  harnessTargetMetadata: targetMetadata.optional(),
  agentIdentity: text(65).optional(),
  sessionId: text(100).min(1).optional(),
})
/** `GET /v1/wake-subscriptions` */
export const subscriptionQuery = z.strictObject({ agent: text(65).min(1).optional() })
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
    z.strictObject({ eventId: text(26).min(1) }),
    z.strictObject({ fromLogId: z.int().min(1), toLogId: z.int().min(1) }),
    z.strictObject({ failedSince: z.iso.datetime({ offset: true }).transform((at) => Date.parse(at)) }),
  ],
  { error: 'Say what to send again: {eventId}, {fromLogId, toLogId} or {failedSince} (an instant in ISO 8601).' },
)
/** `POST /v1/wake-subscriptions/{id}/resync` */
export const resyncInput = z.strictObject({
  sinceLogId: z.int({ error: 'is the logId of the last wake that was handled: an integer' }).min(0),
})

const part = z
  .looseObject({})
  .refine((value) => ['text', 'raw', 'url', 'data'].some((kind) => value[kind] !== undefined), {
    error: 'needs one of text, raw, url or data (A2A specification, Part)',
  })
const parts = z.array(part).min(1, 'needs at least one part')
const message = z.union(
  [
    text(1_000_000)
      .min(1)
      .transform((words) => ({ parts: [{ text: words }] })),
    z.looseObject({ parts }),
  ],
  {
    error: 'is a text, or an A2A message with `parts`',
  },
)
const artifact = z.looseObject({ artifactId: text(200).optional(), name: text(500).optional(), parts })
const version = z.int({ error: 'is the version that you read the task at: an integer' }).min(1)
/** `POST /v1/tasks/{id}/transitions` */
export const transitionInput = z.strictObject({
  to: oneOf(taskStates),
  expectedVersion: version.optional(),
  message: message.optional(),
  artifacts: z.array(artifact).max(100).optional(),
})
/** `POST /v1/tasks/{id}/artifacts` */
export const artifactInput = z.strictObject({
  artifact,
  append: z.boolean().optional(),
  lastChunk: z.boolean().optional(),
  expectedVersion: version.optional(),
})
/** `GET /v1/tasks` */
export const taskQuery = z.strictObject({
  role: oneOf(['assignee', 'originator']).optional(),
  state: oneOf(taskStates).optional(),
  contextId: text(200).optional(),
  pageSize: count(1, 100).optional(),
  pageToken: text(500).optional(),
  historyLength: count(0, 100).optional(),
  includeArtifacts: oneOf(['true', 'false']).optional(),
})
/** `GET /v1/tasks/{id}` */
export const taskReadQuery = z.strictObject({ historyLength: count(0, 10_000).optional() })

/** An agent of this project, or of another as `web:@donna`. */
const address = text(110).min(1)
/** `POST /v1/permissions` */
export const permissionInput = z.strictObject({
  grantee: address,
  scope: oneOf(permissionScopes),
  grantor: text(65).optional(),
})
/** `GET /v1/permissions` */
export const permissionQuery = z.strictObject({
  scope: oneOf(permissionScopes).optional(),
  grantor: address.optional(),
  grantee: address.optional(),
})
/** `POST /v1/projects` */
export const projectInput = z.strictObject({ project: text(40).min(1) })
/** What a claim is on: a task, an issue, a commit, a path; one line of text. */
const ref = text(500)
  .trim()
  .min(1, 'names what is worked on: a task, an issue, a commit, a path')
  .regex(/^\P{Cc}*$/u, 'is one line of text')
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
  pageToken: text(500).optional(),
})
/** `GET /v1/events` */
export const eventsQuery = z.strictObject({
  since: count(0, Number.MAX_SAFE_INTEGER, 'is a logId: an integer').optional(),
  limit: count(1, 1000).optional(),
})
/** `GET /v1/wake-subscriptions/{id}/deliveries` */
export const deliveriesQuery = z.strictObject({
  limit: count(1, 500).optional(),
  pageToken: text(26).optional(),
})
/** `GET /v1/catalog` */
export const catalogQuery = z.strictObject({
  skill: text(200).optional(),
  tag: text(200).optional(),
  q: text(500).optional(),
})
