import { z } from 'zod'
import { approvalAnswers, approvalKinds, approvalOutcomes, approvalStateNames } from '../../../approvals/approval.ts'
import { isJsonObject, type JsonObject } from '../../../lib/json.ts'
import { sizeLimits } from '../../../limits.ts'
import { address, count, line, oneOf, text } from '../fields.ts'

const name = line(100).min(1)
const conversationId = line(sizeLimits.id.max).min(1)
/** As it came: a copy may lose members. */
const input = z.unknown().refine(isJsonObject, 'must be an object').meta({ type: 'object' }) as z.ZodType<JsonObject>
const message = text(2_000)
/** The most that a harness waits, in seconds. */
const waitMax = 24 * 3_600

export const newApproval = z.strictObject({
  nonce: line(200).min(1),
  harness: name,
  conversationId,
  kind: oneOf(approvalKinds),
  tool: line(200).min(1),
  input,
  reason: message.optional(),
  cwd: text(sizeLimits.url.max * 2).optional(),
  mode: name.optional(),
  expiresInSeconds: z.int({ error: 'is a whole number of seconds' }).min(1).max(waitMax),
})

export const approvalQuery = z.strictObject({
  agent: address.optional(),
  state: oneOf(approvalStateNames).optional(),
  conversationId: conversationId.optional(),
  limit: count(1, 200).optional(),
  pageToken: line(100).optional(),
})

export const waitQuery = z.strictObject({ waitSeconds: count(0, 50).optional() })

export const decisionInput = z.strictObject({
  answer: oneOf(approvalAnswers),
  message: message.optional(),
  answers: z.record(text(2_000), message).optional(),
  inputHash: line(64).min(1),
})

export const closeInput = z
  .strictObject({
    state: oneOf(['withdrawn', 'answered_there']).optional(),
    outcome: oneOf(approvalOutcomes).optional(),
  })
  .refine(({ state, outcome }) => (state === undefined) !== (outcome === undefined), {
    path: ['state'],
    error: 'or outcome: send one of the two.',
  })

export const settleInput = z
  .strictObject({ harness: name, conversationId, tool: line(200).min(1).optional(), input: input.optional() })
  .refine((body) => (body.tool === undefined) === (body.input === undefined), {
    path: ['tool'],
    error: 'and input go together: send both, or neither for all of the conversation.',
  })
