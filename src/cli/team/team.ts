import { z } from 'zod'
import { permissionScopes } from '../../words/callers.ts'
import { triggers } from '../../words/events.ts'
import { accessLevels, contactPolicies, priorities, wakePolicies } from '../../words/policies.ts'
import { repeatedSkillId } from '../../words/skills.ts'
import { chosenTargets } from '../../words/targets.ts'
import { addressOf, handleOf, isHandle } from './addresses.ts'

const texts = z.array(z.string())
const handle = z.string().transform(handleOf).refine(isHandle, 'is not a handle. Write donna or "@donna".')
const address = z.string().transform(addressOf)

const skill = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  tags: texts.optional(),
  examples: texts.optional(),
  inputModes: texts.optional(),
  outputModes: texts.optional(),
})

const agent = z.strictObject({
  handle,
  displayName: z.string().nullable().optional(),
  description: z.string().nullable().optional(),
  aliases: z.array(handle).optional(),
  skills: z
    .array(skill)
    .refine((skills) => repeatedSkillId(skills) === undefined, 'has two skills of one id. Give each an id of its own.')
    .optional(),
  inputModes: texts.optional(),
  outputModes: texts.optional(),
  access: z.enum(accessLevels).optional(),
  contactPolicy: z.enum(contactPolicies).optional(),
  defaultWakePolicy: z.enum(wakePolicies).optional(),
})

const filters = z.strictObject({
  taggedConcepts: texts.optional(),
  priority: z.enum(priorities).optional(),
  // As the gateway stores them: an identity is written with its @.
  senderFilter: z.array(z.string().transform((one) => (one.includes('@') ? one : `@${one}`))).optional(),
  inReplyToFilter: texts.optional(),
})

const metadata = z.strictObject({
  url: z.string().optional(),
  // The gateway keeps milliseconds.
  coalesceWindow: z
    .number()
    .transform((seconds) => Math.round(seconds * 1_000) / 1_000)
    .optional(),
  coalesceMode: z.enum(['window', 'leading']).optional(),
  daemonSocketPath: z.string().optional(),
  maxInFlight: z.number().optional(),
  includeOwn: z.boolean().optional(),
  retryForSeconds: z.number().optional(),
  probe: z.boolean().optional(),
})

const subscription = z.strictObject({
  agentIdentity: handle,
  trigger: z.enum(triggers),
  filters: filters.optional(),
  harnessTarget: z.enum(chosenTargets).optional(),
  harnessTargetMetadata: metadata.optional(),
  status: z.enum(['active', 'paused']).optional(),
})

const grant = z.strictObject({ grantor: handle, grantee: address, scope: z.enum(permissionScopes) })

/** A file of a team. The fields of an entry are those of the REST API; a list that is absent is not covered. */
export const teamSchema = z.strictObject({
  agents: z.array(agent).optional(),
  subscriptions: z.array(subscription).optional(),
  grants: z.array(grant).optional(),
})

export type Team = z.infer<typeof teamSchema>
export type TeamAgent = z.infer<typeof agent>
export type TeamSubscription = z.infer<typeof subscription>
export type TeamGrant = z.infer<typeof grant>

/** A list of a team. */
export type Section = keyof Team

/** The fields that there are, by the path of their object without the numbers in it. */
export const fieldsAt: Readonly<Record<string, readonly string[]>> = {
  '': Object.keys(teamSchema.shape),
  agents: Object.keys(agent.shape),
  'agents.skills': Object.keys(skill.shape),
  subscriptions: Object.keys(subscription.shape),
  'subscriptions.filters': Object.keys(filters.shape),
  'subscriptions.harnessTargetMetadata': Object.keys(metadata.shape),
  grants: Object.keys(grant.shape),
}
