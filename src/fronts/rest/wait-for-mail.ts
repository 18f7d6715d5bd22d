import { Problem } from '../../errors.ts'
import { type OpenCalls, revoked } from '../../identity/open-calls.ts'
import type { MailWaits } from '../../mailbox/delivery/mail-waits.ts'
import { type PiggybackContext, takePiggyback } from '../../mailbox/delivery/piggyback.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { PendingSignal } from '../../words/mail.ts'
import type { UntilGone } from './route.ts'

export interface WaitForMailContext {
  readonly mail: PiggybackContext
  readonly mailWaits: MailWaits
  readonly openCalls: OpenCalls
  readonly stopping: AbortSignal
}

/**
 * Waits until mail comes that wakes the caller, and returns all waiting mail, like the answer to any other call. Empty at the time-out,
 * when the gateway stops, and when the client has disconnected. It counts as a blocking call while it waits. Errors: `forbidden`,
 * `session-not-found`, `limit-exceeded`; `unauthenticated` when the key is revoked meanwhile. Source: S2-14.
 */
export async function waitForMail(
  { mail, mailWaits, openCalls, stopping }: WaitForMailContext,
  caller: Caller,
  timeoutMs: number,
  untilGone: UntilGone,
): Promise<PendingSignal[]> {
  requireTaker(caller)
  if (!(await mail.findSession(mail.db, caller.id))) throw withoutSession(caller)
  using openCall = openCalls.open(caller, 'blockingCalls')
  const signal = untilGone(stopping, openCall.signal)
  await mailWaits.untilMail(caller, { timeoutMs, signal })
  const signals = await mailWaits.inTurn(caller.id, async () => (signal.aborted ? [] : takePiggyback(mail, caller.id)))
  if (openCall.signal.aborted && signals.length === 0) throw revoked()
  return signals
}

/** Mail is delivered to a harness: an agent's key with `read` and `work`. */
function requireTaker({ kind, scopes }: Caller): void {
  if (kind === 'agent' && scopes.includes('work')) return
  throw new Problem('forbidden', {
    field: 'waitSeconds',
    detail:
      kind === 'agent'
        ? 'waitSeconds: what it returns counts as delivered, which takes a key with the scopes read and work. Leave waitSeconds out to read the inbox.'
        : 'waitSeconds: only an agent can wait for its mail. Leave waitSeconds out to read the inbox.',
  })
}

function withoutSession({ identity }: Caller): Problem {
  return new Problem('session-not-found', {
    detail: `${identity} has no live session. Start one: POST /v1/sessions {"surface": "…"}.`,
  })
}
