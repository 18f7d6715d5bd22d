import { type Limit, limit } from './limits.ts'

/**
 * How much each operator key and each token of an operator may use of a gateway. Nobody may change these. The admin key has no rate and no
 * queue: it has to work when everybody else is refused.
 */
export const operatorLimits = {
  operatorRequestsPerMinute: limit(
    30_000,
    'a minute',
    'requests of one operator key or token of an operator; 6,000 at once',
  ),
  operatorMegabytesPerMinute: limit(
    1_024,
    'a minute',
    'MiB of the requests of one operator key or token and of their answers, streams included; 256 at once',
  ),
  operatorRequestsAtOnce: limit(
    128,
    'at a time',
    'requests of one operator key or token that are processed; more wait in a queue',
  ),
  operatorRequestsInLine: limit(
    1_024,
    'at a time',
    'requests of one operator key or token that wait in the queue; more are refused',
  ),
} as const satisfies Record<string, Limit>

/** How much of the rates of an operator may be used at once, and how long it takes to become available again, in ms. */
export const operatorAllowances = {
  operatorRequestsPerMinute: { max: 6_000, windowMs: 12_000 },
  operatorMegabytesPerMinute: { max: 256, windowMs: 15_000 },
} as const
