import { z } from 'zod'
import { accessLevels, contactPolicies, wakePolicies } from '../../../words/policies.ts'
import { line, names, oneOf, text } from '../fields.ts'
import { flag } from '../key-terms.ts'
import { pageFields } from '../page.ts'

const skill = z.strictObject({
  id: line(100).min(1),
  name: line(200).min(1),
  description: text(2000).optional(),
  tags: names.optional(),
  examples: z.array(text(2000)).max(20).optional(),
  inputModes: names.optional(),
  outputModes: names.optional(),
})

const fields = {
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

export const newAgent = z.strictObject({ handle: line(65).min(1), project: line(40).optional(), ...fields })
export const agentChanges = z.strictObject(fields)
export const agentQuery = z.object(pageFields)
export const removalQuery = z.strictObject({ freeNames: flag })
