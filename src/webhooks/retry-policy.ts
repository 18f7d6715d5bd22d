import type { OutboundErrorKind } from '../security/outbound-error.ts'
import { attemptsMax, retryDelayMs } from '../wakes/rules/retry-schedule.ts'

export type AttemptOutcome = { status: number; retryAfter?: string } | { error: OutboundErrorKind }

type NextStep =
  | { next: 'delivered' }
  | { next: 'retry'; delayMs: number }
  /** The event has failed; the subscription continues with the next one. */
  | { next: 'failed'; reason: string; isOfEvent?: true }
  /** The receiver does not want it: the subscription degrades at once. */
  | { next: 'rejected'; reason: string }

/** The facts that a retry depends on: the time (for a Retry-After that is a date), and how long the receiver may be away. Instants in ms. */
interface RetryContext {
  readonly now: number
  /** When the first attempt was made. Default: now. */
  readonly firstAt?: number
  readonly retryForSeconds?: number | undefined
  /** In [0, 1). */
  readonly random: () => number
  /** True when a refusal is of the event alone. Default: false. */
  readonly refusesByEvent?: boolean
}

/** True when an attempt delivered its event. */
export function isDelivered(outcome: AttemptOutcome): boolean {
  return judge(outcome).rule === 'delivered'
}

/** Returns what follows from the outcome of attempt number `attempt` (from 1). Source: S1-34, D4, D31. */
export function afterAttempt(outcome: AttemptOutcome, attempt: number, context: RetryContext): NextStep {
  const { rule, reason } = judge(outcome, context.refusesByEvent ? statusRulesByEvent : statusRules)
  if (rule === 'delivered') return { next: 'delivered' }
  if (rule === 'unfit') return { next: 'failed', reason, isOfEvent: true }
  if (rule === 'rejected' || rule === 'failed') return { next: rule, reason }
  const requestedMs = 'retryAfter' in outcome ? retryAfterMs(outcome.retryAfter, context.now) : 0
  // A failure that does not count as an attempt waits as after the third one at most.
  const counted = rule === 'again' ? Math.min(attempt, attemptsMax - 1) : attempt
  const delayMs = retryDelayMs({ firstAt: context.now, ...context, attempt: counted, requestedMs })
  return delayMs === undefined ? { next: 'failed', reason } : { next: 'retry', delayMs }
}

/** `retry` counts against `attemptsMax`, `again` does not. `unfit` is about the event alone. */
type Rule = 'delivered' | 'retry' | 'again' | 'failed' | 'unfit' | 'rejected'

const errorRules = {
  refused: { rule: 'failed', reason: 'url-not-allowed' },
  // A name that does not exist, or one that leads to a forbidden address: the owner does not learn which.
  dns: { rule: 'retry', reason: 'unreachable' },
  connect: { rule: 'retry', reason: 'connect' },
  timeout: { rule: 'retry', reason: 'timeout' },
  reset: { rule: 'retry', reason: 'reset' },
  tls: { rule: 'retry', reason: 'tls' },
  'no-http': { rule: 'retry', reason: 'no-http' },
  network: { rule: 'retry', reason: 'network' },
  // We stopped it ourselves, so it proves nothing about the receiver.
  aborted: { rule: 'again', reason: 'aborted' },
  busy: { rule: 'again', reason: 'busy' },
} as const satisfies Record<OutboundErrorKind, { rule: Rule; reason: string }>

interface StatusRule {
  readonly from: number
  readonly to: number
  readonly rule: Rule
  readonly reason?: string
}

/** The first range that holds the status decides; a status outside HTTP is treated like a broken server. */
const statusRules: readonly StatusRule[] = [
  { from: 200, to: 299, rule: 'delivered' },
  // Timeout, Too Early and Too Many Requests ask for a later attempt themselves.
  { from: 408, to: 408, rule: 'retry' },
  { from: 425, to: 425, rule: 'retry' },
  { from: 429, to: 429, rule: 'retry' },
  // Too large is about this event, and no retry helps it. Source: D40.
  { from: 413, to: 413, rule: 'failed' },
  { from: 410, to: 410, rule: 'rejected', reason: 'gone' },
  { from: 400, to: 499, rule: 'rejected' },
]

/**
 * Of a receiver that refuses event by event: "gone" and "too large" are about one event. Any other refusal may pass: a client of MCP may not
 * have stored the answer to its subscribe yet. Source: SEP-3415, webhook delivery.
 */
const statusRulesByEvent: readonly StatusRule[] = [
  { from: 200, to: 299, rule: 'delivered' },
  { from: 410, to: 410, rule: 'unfit', reason: 'gone' },
  { from: 413, to: 413, rule: 'unfit' },
]

function judge(outcome: AttemptOutcome, statuses = statusRules): { rule: Rule; reason: string } {
  if ('error' in outcome) return errorRules[outcome.error]
  const { status } = outcome
  for (const { from, to, rule, reason } of statuses) {
    if (from <= status && status <= to) return { rule, reason: reason ?? `http-${status}` }
  }
  return { rule: 'retry', reason: `http-${status}` }
}

/** Retry-After is seconds or a date (RFC 9110 section 10.2.3). Anything else counts as absent. */
function retryAfterMs(value: string | undefined, now: number): number {
  const text = value?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return 0
  // The third of the date forms (RFC 9110 section 5.6.7) has no zone and would be read as local time.
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(at) ? 0 : at - now
}
