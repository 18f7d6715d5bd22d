import { z } from 'zod'
import { sizeLimits } from '../../../limits.ts'
import { contentsOf, isBase64, nullData } from '../../../tasks/part.ts'
import { wakePolicies } from '../../../words/policies.ts'
import { taskStates } from '../../../words/task-states.ts'
import { notAPageToken } from '../../validate.ts'
import { count, flag, line, oneOf, text } from '../fields.ts'

const id = line(sizeLimits.id.max)
const metadata = z.record(z.string(), z.unknown(), { error: 'must be an object' }).optional()
const extensions = z.array(line(sizeLimits.url.max)).max(sizeLimits.items.max).optional()

/** One part as A2A has it (specification section 4.1.6). A2A clients get what is stored here unchanged. */
const part = z
  .looseObject({
    text: z.string({ error: 'must be a string' }).optional(),
    raw: z.string({ error: 'must be a string in base64' }).refine(isBase64, 'must be a string in base64').optional(),
    url: line(sizeLimits.url.max).optional(),
    data: z
      .unknown()
      .refine((value) => value !== null, nullData)
      .optional(),
    filename: line(sizeLimits.id.max).optional(),
    mediaType: line(sizeLimits.id.max).optional(),
    metadata,
  })
  .refine((value) => contentsOf(value).length === 1, {
    error: 'needs exactly one of text, raw, url or data (A2A specification, Part)',
  })

const parts = z
  .array(part)
  .min(1, 'needs at least one part')
  .max(sizeLimits.parts.max, `has at most ${sizeLimits.parts.max} parts. Send more of them apart.`)

const message = z.preprocess(
  (said) => (typeof said === 'string' && said !== '' ? { parts: [{ text: said }] } : said),
  z.looseObject(
    {
      messageId: id.optional(),
      role: line(50).optional(),
      parts,
      metadata,
      extensions,
      referenceTaskIds: z.array(id).max(sizeLimits.items.max).optional(),
    },
    { error: 'must be a string, or an A2A message with `parts`' },
  ),
)

const artifact = z.looseObject({
  artifactId: id.optional(),
  name: line(500).optional(),
  description: text(4_000).optional(),
  parts,
  metadata,
  extensions,
})

const version = z.int({ error: 'must be the version of the task that you have read: an integer' }).min(1)

export const transitionInput = z.strictObject({
  to: oneOf(taskStates),
  expectedVersion: version.optional(),
  message: message.optional(),
  artifacts: z.array(artifact).max(100).optional(),
  answerAs: oneOf(['task', 'message']).optional(),
  wakePolicy: oneOf(wakePolicies).optional(),
})

export const artifactInput = z.strictObject({
  artifact,
  append: z.boolean().optional(),
  lastChunk: z.boolean().optional(),
  expectedVersion: version.optional(),
})

export const taskQuery = z.strictObject({
  agent: line(110).min(1).optional(),
  role: oneOf(['assignee', 'originator']).optional(),
  state: oneOf(taskStates).optional(),
  contextId: id.optional(),
  order: oneOf(['newest', 'oldest']).optional(),
  pageSize: count(1, 100).optional(),
  pageToken: line(500).optional(),
  historyLength: count(0, 100).optional(),
  includeArtifacts: flag,
})

/** A page of a task's messages or artifacts. */
export const taskPartQuery = z.strictObject({
  limit: count(1, 1_000).optional(),
  pageToken: count(1, Number.MAX_SAFE_INTEGER, notAPageToken).optional(),
})

export const taskReadQuery = z.strictObject({ historyLength: count(0, sizeLimits.taskItems.max).optional() })
