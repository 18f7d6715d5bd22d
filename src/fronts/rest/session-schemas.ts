import { z } from 'zod'
import { presenceSources, presenceStates } from '../../registry/sessions/presence.ts'
import { count, line, names, oneOf } from './schemas.ts'

/** `POST /v1/sessions` */
export const sessionInput = z.strictObject({
  // It stands in what the gateway itself says to the team.
  surface: z
    .string()
    .regex(
      /^[a-z0-9_.-]{1,100}$/,
      'names the harness in up to 100 of the characters a-z 0-9 _ . -: claude_code, codex, cursor, …',
    ),
  capabilities: names.optional(),
  pid: z.int({ error: 'is a process id: an integer' }).min(1).max(4_294_967_295).optional(),
  startedAt: z.iso
    .datetime({ offset: true, error: 'is the instant at which the process started, in ISO 8601' })
    .transform((at) => Date.parse(at))
    .optional(),
})

const turnStates = ['active', 'waitingOnApproval']
/** `PUT /v1/presence` */
export const presenceInput = z
  .strictObject({
    state: oneOf(presenceStates),
    source: oneOf(presenceSources),
    activeTurnId: line(200).min(1).optional(),
    capabilities: names.optional(),
  })
  .refine(({ state, activeTurnId }) => activeTurnId === undefined || turnStates.includes(state), {
    path: ['activeTurnId'],
    error: `is the id of a running turn: it goes with the state ${turnStates.join(' or ')}. Leave it out.`,
  })
/** `PUT /v1/sessions/{id}` */
export const beatInput = z.strictObject({ presence: presenceInput.optional() })
/** `GET /v1/sessions` */
export const sessionQuery = z.strictObject({
  status: oneOf(['live', 'ended']).optional(),
  limit: count(1, 200).optional(),
  pageToken: line(100)
    .regex(/^session_[0-9a-f-]{36}$/, 'is not one of ours. Send `nextPageToken` as it is.')
    .optional(),
})
/** `GET /v1/wake-subscriptions/{id}/held` */
export const heldQuery = z.strictObject({
  limit: count(1, 500).optional(),
  pageToken: count(1, Number.MAX_SAFE_INTEGER, 'is not one of ours. Send `nextPageToken` as it is.').optional(),
})
