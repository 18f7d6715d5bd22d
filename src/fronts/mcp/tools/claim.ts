import { z } from 'zod'
import { claimQuery, handoffInput } from '../../rest/claim-input.ts'
import { type Actions, checkAction } from './actions.ts'
import { counted } from './counted.ts'
import { pageToken } from './fields.ts'
import { nextPageToken } from './outputs.ts'
import { acts, tool } from './tool.ts'

const actions = {
  claim: { needs: ['ref'], takes: [] },
  release: { needs: ['ref'], takes: [] },
  handoff: { needs: ['ref', 'to'], takes: ['message'] },
  list: { needs: [], takes: ['ref', 'owner', 'pageToken'] },
} as const satisfies Actions<string>

const shownClaim = z.looseObject({ ref: z.string(), owner: z.string(), stale: z.boolean() })

/** Source: S4-7. */
export const claim = tool({
  name: 'claim',
  title: 'Claim work',
  description:
    'Says who works on something, so that no two agents do the same. claim: before you begin on a ref (a task id, an issue, a path, a branch); it is refused with the owner when another has it: then leave that work alone. release: when you stop. handoff: give it to another agent (to), with a message; the ref of a task moves the task too. list: who works on what. ' +
    'A claim is stale after six hours without a sign of life of its owner: then it may be taken over.',
  input: z.strictObject({
    action: z.enum(['claim', 'release', 'handoff', 'list']),
    ref: handoffInput.shape.ref.describe('One line that names the work, spelled the same by everybody').optional(),
    to: handoffInput.shape.to.describe('With handoff: the new owner').optional(),
    message: handoffInput.shape.message.describe('With handoff: what the new owner needs to know'),
    owner: claimQuery.shape.owner.describe('With list: only claims of this agent'),
    pageToken,
  }),
  output: z.looseObject({
    action: z.string(),
    ref: z.string().optional(),
    owner: z.string().optional(),
    outcome: z
      .string()
      .optional()
      .describe('claimed, renewed (it was yours), taken_over (it was stale), released, handed_off'),
    messageId: z.string().optional(),
    claims: z.array(shownClaim).optional(),
    nextPageToken,
  }),
  annotations: acts,
  say: ({ action, outcome, ref, owner, claims }) =>
    action === 'list'
      ? `${counted(claims?.length ?? 0, 'claim')}.`
      : `${outcome}: ${ref}${owner === undefined ? '' : ` (${owner})`}.`,
  run: async ({ rest }, input) => {
    checkAction(input, actions)
    const { action, ref = '', to = '', message, owner, pageToken: after } = input
    if (action === 'claim') return { action, ...(await rest('POST /v1/claims', { body: { ref } })) }
    if (action === 'handoff') {
      const moved = await rest('POST /v1/claims/handoff', { body: { ref, to, message } })
      return { action, outcome: 'handed_off', ...moved }
    }
    if (action === 'release') {
      await rest('DELETE /v1/claims', { query: { ref } })
      return { action, outcome: 'released', ref }
    }
    const query = { ...(input.ref === undefined ? {} : { ref }), owner, pageToken: after, limit: 50 }
    const { claims, nextPageToken: next } = await rest('GET /v1/claims', { query })
    return { action, claims, ...(next === '' ? {} : { nextPageToken: next }) }
  },
})
