import { z } from 'zod'
import { backlogs } from '../../../recovery/change-gate.ts'
import { parkedReasons } from '../../../registry/recovery/recovery.ts'
import { address, count, instantText, line, oneOf, time } from '../fields.ts'

const epoch = z.int({ error: 'must be the epoch of an order: an integer' }).min(1)
const detail = line(200).optional()

export const agentQuery = z.strictObject({
  agent: address.optional(),
  limit: count(1, 200).optional(),
  pageToken: line(100).optional(),
})

export const parkInput = z.strictObject({
  /** null: until a person acts. */
  until: time('must be the instant at which the limit is over, in ISO 8601, or null').nullable(),
  reason: oneOf(parkedReasons),
  detail,
})

const pid = z.int({ error: 'must be a process id: an integer' }).min(1).max(4_294_967_295)
const tally = z.int().min(0).max(1_000_000_000)

export const accountInput = z.strictObject({
  startedAt: instantText(),
  starts: tally,
  lastAcceptAt: instantText().optional(),
  lastSweepAt: instantText().optional(),
  late: z
    .array(z.strictObject({ step: line(60).min(1), count: tally }))
    .max(20)
    .optional(),
  restart: oneOf(['none', 'unproven', 'proven']),
  harness: line(60).min(1).optional(),
  process: z.strictObject({ pid, startedAt: instantText() }).optional(),
  seen: z.boolean({ error: 'is true or false' }),
})

export const actInput = z.strictObject({ epoch })

export const reportInput = z.strictObject({
  outcome: oneOf(['started', 'failed', 'refused']),
  pid: pid.optional(),
  startedAt: instantText().optional(),
  detail,
})

// A person may trip it too: then it opens with a proof only.
const state = oneOf(['enabled', 'disabled', 'tripped'])
const setting = (min: number, max: number) =>
  z
    .int({ error: `is a number from ${min} to ${max}, or null for the default` })
    .min(min)
    .max(max)
    .nullable()
    .optional()

export const gateInput = z.strictObject({
  agent: address.optional(),
  nudges: state.optional(),
  restarts: state.optional(),
  reason: line(200).optional(),
  settings: z
    .strictObject({
      staleAfterSeconds: setting(60, 86_400),
      bootTimeoutSeconds: setting(60, 86_400),
      abandonedMax: setting(1, 100),
      restartsPerHour: setting(1, 100),
      nudgesPerHour: setting(1, 100),
      turnOpenMaxSeconds: setting(60, 86_400),
      maxContextTokens: setting(0, 100_000_000),
      turnsPerHour: setting(0, 10_000),
      turnsPerDay: setting(0, 10_000),
      senderTurnsPerHour: setting(0, 10_000),
      senderTurnsPerDay: setting(0, 10_000),
      threadTurnsPerHour: setting(0, 10_000),
      threadTurnsPerDay: setting(0, 10_000),
    })
    .optional(),
  proof: line(100).min(1).optional(),
  backlog: oneOf(backlogs).optional(),
})
