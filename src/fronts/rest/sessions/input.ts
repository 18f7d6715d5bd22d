import { z } from 'zod'
import { presenceSources, presenceStates } from '../../../registry/sessions/presence.ts'
import { count, line, names, oneOf, time } from '../fields.ts'

export const newSession = z.strictObject({
  // The gateway repeats it in its own words to the team.
  surface: z
    .string()
    .regex(
      /^[a-z0-9_.-]{1,100}$/,
      'must be the name of the harness: up to 100 of the characters a-z 0-9 _ . -, e.g. claude_code, codex, cursor, …',
    ),
  capabilities: names.optional(),
  pid: z.int({ error: 'must be a process id: an integer' }).min(1).max(4_294_967_295).optional(),
  startedAt: time('must be the instant at which the process started, in ISO 8601').optional(),
})

const turnStates = ['active', 'waitingOnApproval']
export const presenceInput = z
  .strictObject({
    state: oneOf(presenceStates),
    source: oneOf(presenceSources),
    activeTurnId: line(200).min(1).optional(),
    capabilities: names.optional(),
  })
  .refine(({ state, activeTurnId }) => activeTurnId === undefined || turnStates.includes(state), {
    path: ['activeTurnId'],
    error: `is the id of a running turn, so it is only allowed with the state ${turnStates.join(' or ')}. Leave it out.`,
  })

export const beatInput = z.strictObject({ presence: presenceInput.optional() })

export const sessionQuery = z.strictObject({
  status: oneOf(['live', 'ended']).optional(),
  limit: count(1, 200).optional(),
  pageToken: line(100)
    .regex(
      /^session_[0-9a-f-]{36}$/,
      'is not a page token of this list. Send the `nextPageToken` of the previous page, unchanged.',
    )
    .optional(),
})
