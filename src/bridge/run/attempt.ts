import type { GatewayClient } from '../../client/gateway-client.ts'
import { type AskedTurn, askForTurn } from '../../client/wakes/turns.ts'
import type { Wake } from '../../client/wakes/wake.ts'
import type { Reason } from '../../words/sender-view.ts'
import type { Adapter, AdapterId, AdapterRow, HarnessSession, WakeEnd, WakeTools } from '../adapter.ts'
import type { GuardVerdict } from '../guards/guard.ts'
import type { Journal, WakeRecord } from '../journal/journal.ts'
import { reasonOfState } from '../reason-of-state.ts'
import type { Choice } from '../target/choose-session.ts'
import { outgoingWake } from '../wake-text.ts'
import { Patience } from './patience.ts'
import { StepLate, type StepWatch } from './step-watch.ts'
import { guardedTurn, outcomeOf, refusedTurn, unasked } from './turn-answer.ts'

/** The steps that may be reported on the way. */
type Step = 'accepted' | 'routed' | 'written' | 'held' | 'delivered'

/** The parts that an attempt may use. */
export interface AttemptParts {
  readonly journal: Journal
  readonly gateway: GatewayClient
  readonly adapter: (id: AdapterId) => Adapter
  readonly row: (id: AdapterId) => AdapterRow
  /** The conversation that the wake is for, as it is now. Errors: of the gateway. */
  readonly choose: (signal: AbortSignal) => Promise<Choice>
  /** The current state of a conversation; undefined: it no longer exists. */
  readonly lookFor: (harness: AdapterId, conversationId: string) => Promise<HarnessSession | undefined>
  /** Whose turn it would be. */
  readonly senders: readonly string[]
  /** Why no turn may begin now. */
  readonly guard: () => GuardVerdict | undefined
  /** Bounds what is awaited. */
  readonly watch: StepWatch
  /** A step on the way, with its proof. */
  readonly report: (step: Step, detail: string, by?: AdapterId) => void
  /** ms since the epoch */
  readonly now: () => number
  /** How long a wake may wait in its harness, in ms. */
  readonly patienceMs: number
  /** Aborts when the bridge stops, or the subscription is gone. */
  readonly signal: AbortSignal
}

/** How an attempt ended. `stopped`: before anything was decided; the record is unchanged. */
export type AttemptEnd = (WakeEnd | { readonly step: 'stopped'; readonly detail: string }) & {
  /** The harness that it was for. */
  readonly by?: AdapterId
  /** The conversation that it waits for. */
  readonly session?: HarnessSession
  /** The harness has it: it is looked for, and not handed over again. */
  readonly isWithHarness?: true
  /** Its senders have woken the agent too often: wakes from others need not wait. */
  readonly isOfSender?: true
}

const stopped: AttemptEnd = { step: 'stopped', detail: '' }
/** The steps that a harness might still prove, or disprove, when the bridge comes back. */
const unproven: readonly string[] = ['held', 'failed', 'unknown', 'written']

/** Tries once to hand a wake over; what was handed over before is looked for, and not handed over again. Never rejects. */
export async function attempt(wake: Wake, record: WakeRecord, parts: AttemptParts): Promise<AttemptEnd> {
  try {
    const found = record.handedOverAt === null ? undefined : await findAgain(record, parts)
    return found ?? (await choose(wake, parts))
  } catch (error) {
    if (parts.signal.aborted) return stopped
    // The gateway or the journal cannot be reached: the record is unchanged.
    return { step: 'held', detail: (error as Error).message, reason: 'cannot_start_turn' }
  }
}

/** Returns the outcome of a wake that was handed over; undefined: there is none, so it is handed over again. */
async function findAgain(record: WakeRecord, parts: AttemptParts): Promise<AttemptEnd | undefined> {
  const { id, harness, conversationId, cwd } = record
  if (harness === null || conversationId === null) return { step: 'unknown', detail: 'the record is not complete' }
  const lost: HarnessSession = { harness, conversationId, state: 'unknown', ...(cwd === null ? {} : { cwd }) }
  let by: Pick<AttemptEnd, 'by' | 'session'> = { by: harness, session: lost }
  let found: Awaited<ReturnType<Adapter['find']>>
  try {
    const session = (await parts.lookFor(harness, conversationId)) ?? lost
    by = { by: harness, session }
    const find = () => parts.adapter(harness).find(session, id, parts.signal, record.route ?? '')
    found = await parts.watch.run('find', find)
  } catch (error) {
    if (parts.signal.aborted) return stopped
    if (error instanceof StepLate) throw error
    return { step: 'unknown', detail: `it was handed over, and then: ${(error as Error).message}`, ...by }
  }
  if (found === 'turn_started' || found === 'delivered') {
    return within({ step: found, detail: 'found after a restart' }, parts.row(harness), by)
  }
  if (parts.signal.aborted) return stopped
  if (found === 'waits') {
    const reason = reasonOfState(by.session?.state)
    return { step: 'held', detail: 'the harness has it, and has not begun', reason, isWithHarness: true, ...by }
  }
  if (found === 'written') return { step: 'written', detail: 'found after a restart, and no more is known', ...by }
  if (found === 'unknown' && record.step === 'written') {
    return { step: 'written', detail: 'no more is known since the bridge ended', ...by }
  }
  if (found === 'unknown') {
    return {
      step: 'unknown',
      detail: 'the bridge ended while it was handed over, and the harness does not tell',
      ...by,
    }
  }
  parts.journal.takeBack(id, 'the harness does not have it')
  return undefined
}

async function choose(wake: Wake, parts: AttemptParts): Promise<AttemptEnd> {
  const early = guardedTurn(parts.guard(), parts.now())
  if (early) return early
  const choice = await parts.choose(parts.signal)
  if (parts.signal.aborted) return stopped
  if (choice.kind === 'none') return { step: 'held', detail: choice.reason, reason: 'no_session' }
  if (choice.kind === 'misaddressed') return { step: 'misaddressed', detail: choice.reason }
  const { session } = choice
  const by = { by: session.harness, session }
  if (session.route === undefined) {
    return { step: 'held', detail: session.remark ?? 'there is no way into it', reason: 'cannot_start_turn', ...by }
  }
  parts.report('routed', `${session.route} of ${session.conversationId}`, session.harness)
  return { ...(await handOver(wake, session, parts)), ...by }
}

async function handOver(wake: Wake, session: HarnessSession, parts: AttemptParts): Promise<AttemptEnd> {
  const { journal, signal, gateway } = parts
  let isHandedOver = false
  let handed = () => {}
  const given = new AbortController()
  using patience = new Patience(parts.patienceMs, AbortSignal.any([signal, given.signal]))
  let refusal: AttemptEnd | undefined
  let turn: AskedTurn | undefined
  const tools: WakeTools = {
    signal: patience.signal,
    gateway,
    report(step: Step, detail: string, reason?: Reason) {
      parts.report(step, reason === undefined ? detail : heldDetail({ reason, detail }), session.harness)
      // Its harness has it: from now, or from before.
      if (step === 'held') patience.begin()
    },
    async handingOver(route) {
      signal.throwIfAborted()
      given.signal.throwIfAborted()
      await turn?.end('unknown')
      turn = undefined
      const asking = async () => {
        turn = await askForTurn(gateway, wake.eventId, session.harness, { signal })
        return refusedTurn(turn, parts.now())
      }
      refusal = guardedTurn(parts.guard(), parts.now()) ?? (await asking().catch(unasked))
      // The answer may have come when nobody waited any more.
      given.signal.throwIfAborted()
      refusal ??= written(() => journal.handOver(wake.eventId, session, route, parts.senders))
      if (refusal) throw new Error(refusal.detail)
      isHandedOver = true
      handed()
    },
  }
  const hand = (next: (step: 'turn') => void) => {
    handed = () => next('turn')
    return parts.adapter(session.harness).wake(session, outgoingWake(wake), tools)
  }
  const end = await parts.watch.run('hand over', hand).catch(unforeseen)
  void turn?.end(...outcomeOf(end, session.harness))
  // The rest of it comes when it may.
  if (refusal && isHandedOver) journal.takeBack(wake.eventId, refusal.detail, true)
  if (refusal) return refusal
  // A wake for which the adapter could not wait is looked for at the next start.
  if (signal.aborted && unproven.includes(end.step)) return stopped
  if (patience.isOver && end.step === 'held') return overdue(parts.patienceMs, parts.row(session.harness).title, end)
  if (!isHandedOver) return within(end, parts.row(session.harness), {})
  // To try again after an act might begin a second turn.
  if (end.step === 'failed' && !end.isUntouched) return { step: 'unknown', detail: end.detail }
  if (end.step === 'held' || end.step === 'failed') journal.takeBack(wake.eventId, end.detail, end.isTurn)
  return within(end, parts.row(session.harness), {})

  function unforeseen(error: Error): WakeEnd {
    // It may go on, and then finds that it hands nothing over any more.
    if (error instanceof StepLate) given.abort(error)
    if (error instanceof StepLate && !isHandedOver) {
      return { step: 'held', detail: error.message, reason: 'cannot_start_turn' }
    }
    return { step: isHandedOver ? 'unknown' : 'failed', detail: error.message }
  }
}

/** Gives up a wake that has waited too long since before this attempt. What its harness lets go begins no turn later. Never rejects. */
export async function giveUp(
  wakeId: string,
  end: Extract<AttemptEnd, { step: 'held' }>,
  parts: Pick<AttemptParts, 'adapter' | 'row' | 'patienceMs' | 'signal' | 'watch'>,
): Promise<AttemptEnd> {
  const { by, session } = end
  const title = by === undefined ? 'its harness' : parts.row(by).title
  const given = { ...overdue(parts.patienceMs, title, end), ...(by ? { by } : {}) }
  const adapter = by === undefined ? undefined : parts.adapter(by)
  if (!session || !by || !adapter?.takeBack) return given
  const take = () => adapter.takeBack!(session, wakeId, parts.signal)
  const isBack = await parts.watch.run('take back', take).catch(() => undefined)
  if (isBack) return { ...given, detail: `${given.detail}; it was taken back` }
  // It may have begun just now.
  const find = () => parts.watch.run('find', () => adapter.find(session, wakeId, parts.signal))
  const found = isBack === false ? await find().catch(() => undefined) : undefined
  if (found !== 'turn_started' && found !== 'delivered') return given
  return within({ step: found, detail: 'it began when it was to be taken back' }, parts.row(by), { by, session })
}

/** The wake is not tried again: its harness would begin the turn at an unexpected time. */
function overdue(
  patienceMs: number,
  title: string,
  { detail, reason }: { readonly detail: string; readonly reason: Reason },
): AttemptEnd {
  const waited = `it waited ${Math.round(patienceMs / 60_000)} minutes in ${title} (harnessWaitMinutes)`
  return { step: 'expired', detail: `${heldDetail({ reason, detail })}; ${waited}` }
}

/** A receipt reports no more than its harness can prove. */
function within(end: WakeEnd, { proves, title }: AdapterRow, by: Pick<AttemptEnd, 'by' | 'session'>): AttemptEnd {
  const isProof = end.step === 'delivered' || end.step === 'turn_started' || end.step === 'seen' || end.step === 'acked'
  if (!isProof || proves.includes(end.step)) return { ...end, ...by }
  return { step: 'written', detail: `${end.detail} (${title} does not prove ${end.step})`, ...by }
}

/** Without a record nothing is handed over. */
function written(write: () => void): AttemptEnd | undefined {
  try {
    write()
    return undefined
  } catch (error) {
    const detail = `the journal cannot be written: ${(error as Error).message}`
    return { step: 'held', detail, reason: 'cannot_start_turn' }
  }
}

/**
 * The detail of a wake that is held, as it is reported to the gateway: `turn_active: a turn runs`. The word before the colon is what the sender
 * may know. Pure.
 */
export const heldDetail = ({ reason, detail }: { readonly reason: Reason; readonly detail: string }): string =>
  `${reason}: ${detail}`
