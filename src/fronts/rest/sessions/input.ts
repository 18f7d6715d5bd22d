import { z } from 'zod'
import { presenceSources, presenceStates } from '../../../words/presence.ts'
import { notAPageToken } from '../../validate.ts'
import { count, line, names, oneOf, time } from '../fields.ts'

const pid = z.int({ error: 'must be a process id: an integer' }).min(1).max(4_294_967_295)
const startedAt = time('must be the instant at which the process started, in ISO 8601')

/** The conversation of the harness, as it reports it: its directory and its id, with which a bridge finds it. */
const harness = z.strictObject({ cwd: line(1_000).min(1).optional(), sessionId: line(200).min(1).optional() })

export const newSession = z.strictObject({
  // The gateway repeats it in its own words to the team.
  surface: z
    .string()
    .regex(
      /^[a-z0-9_.-]{1,100}$/,
      'must be the name of the harness: up to 100 of the characters a-z 0-9 _ . -, e.g. claude_code, codex, cursor, …',
    ),
  capabilities: names.optional(),
  pid: pid.optional(),
  startedAt: startedAt.optional(),
  /** False: the mail that waits stays where it is, and goes along with the answers to later calls. */
  drain: z.boolean({ error: 'is true or false' }).optional(),
  harness: harness.optional(),
})

const turnStates = ['active', 'waitingOnApproval']

const presence = z.strictObject({
  state: oneOf(presenceStates),
  source: oneOf(presenceSources),
  activeTurnId: line(200).min(1).optional(),
  capabilities: names.optional(),
  /** The size of the conversation, where the harness tells. */
  contextTokens: z.int({ error: 'is a number of tokens' }).min(0).max(1_000_000_000).optional(),
})

export const presenceInput = withKnownTurn(
  presence.extend({
    /** The process whose session it is: a session of another process is left alone. */
    process: z.strictObject({ pid, startedAt }).optional(),
    harness: harness.optional(),
  }),
)

export const beatInput = z.strictObject({ presence: withKnownTurn(presence).optional(), harness: harness.optional() })

/** `person`: the user of the harness closed it, so that recovery does not restart the harness. */
export const endQuery = z.strictObject({ by: oneOf(['person', 'harness']).optional() })

export const sessionQuery = z.strictObject({
  status: oneOf(['live', 'ended']).optional(),
  limit: count(1, 200).optional(),
  pageToken: line(100)
    .regex(/^session_[0-9a-f-]{36}$/, notAPageToken)
    .optional(),
})

/** Refuses the id of a turn with a state in which none runs. */
function withKnownTurn<Report extends z.ZodType<{ state: string; activeTurnId?: string | undefined }>>(report: Report) {
  return report.refine(({ state, activeTurnId }) => activeTurnId === undefined || turnStates.includes(state), {
    path: ['activeTurnId'],
    error: `is the id of a running turn, so it is only allowed with the state ${turnStates.join(' or ')}. Leave it out.`,
  })
}
