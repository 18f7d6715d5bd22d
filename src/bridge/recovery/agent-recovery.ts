import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { type Clock, sleep } from '../../lib/clock.ts'
import type { AdapterId, HarnessSession, LimitedAt, UsageLimit } from '../adapter.ts'
import { agentKey, type BridgedAgent } from '../config/bridge-config.ts'
import type { GuardVerdict } from '../guards/guard.ts'
import type { Journal } from '../journal/journal.ts'
import { isGone, processStart } from '../processes.ts'
import { Proof } from '../restart/proof.ts'
import { Restarts } from '../restart/restarts.ts'
import type { Conversations } from '../run/conversations.ts'
import { OneAtATime } from '../run/one-at-a-time.ts'
import type { LiveSession, OwnSession } from '../run/own-session.ts'
import { isSameProcess, processOf } from '../target/same-conversation.ts'
import { Parking } from './parking.ts'
import { type Account, RecoveryCalls } from './recovery-calls.ts'

/** The parts of the run of an agent that recovery uses. */
interface AgentRecoveryParts {
  readonly agent: BridgedAgent
  readonly journal: Journal
  readonly gateway: GatewayClient
  readonly own: OwnSession
  readonly conversations: Conversations
  readonly env: Io['env']
  readonly clock: Clock
  /** When this bridge started; ISO 8601. */
  readonly startedAt: string
  /** A line for the user about this agent. */
  readonly note: (text: string) => void
  /** Aborts when the run of the agent is over. */
  readonly over: AbortSignal
  /** How often it reports, in ms (default: 30,000). */
  readonly everyMs?: number | undefined
}

const everyMsDefault = 30_000

/**
 * The side of recovery on this machine, for one agent: it reports what it sees, and does what the gateway orders. It decides nothing by itself.
 * While the gateway is away, or the journal cannot be written, nothing is started. Source: S3-4, S3-6, D50.
 */
export class AgentRecovery {
  readonly restarts: Restarts
  readonly proof: Proof
  readonly #parts: AgentRecoveryParts
  readonly #calls: RecoveryCalls
  readonly #parking: Parking
  readonly #turn = new OneAtATime()
  /** The text that was noted last. */
  #trouble = ''
  #isOldSaid = false

  constructor(parts: AgentRecoveryParts) {
    const { agent, journal, gateway, own, env, clock, note, over } = parts
    this.#parts = parts
    this.#calls = new RecoveryCalls(gateway)
    this.#parking = new Parking(() => clock.now(), note)
    const session = (signal: AbortSignal) => own.read(signal)
    const open = (signal: AbortSignal) => this.#open(signal)
    const shared = { agent, journal, calls: this.#calls, session, open, env, clock, note }
    this.restarts = new Restarts(shared)
    this.proof = new Proof({ ...shared, signal: over }, this.restarts)
  }

  /** Why no turn may begin now, whoever wakes the agent. */
  get parked(): GuardVerdict | undefined {
    return this.#parking.guard
  }

  /** Takes what a harness has shown: if it is the agent's, nothing is handed over until the limit is over. Never rejects. */
  async limited(harness: AdapterId, limit: UsageLimit, at: LimitedAt): Promise<void> {
    const { conversations, over } = this.#parts
    const isOwn = await conversations.isLimited(harness, at, over).catch(() => false)
    if (isOwn && this.#parking.limited(limit)) await this.turn()
  }

  /** Reports every 30 s, until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, everyMs = everyMsDefault } = this.#parts
    while (!signal.aborted) {
      await sleep(clock, everyMs, signal)
      if (!signal.aborted) await this.turn()
    }
  }

  /** Reports once, and does what is ordered. Never rejects: what fails is done with the next turn. */
  async turn(): Promise<void> {
    const { over, journal, agent, note } = this.#parts
    await this.#turn.run(async () => {
      try {
        if (over.aborted) return
        await this.#report(over)
        journal.account.swept(agentKey(agent))
        this.#trouble = ''
      } catch (error) {
        const [why = ''] = (error as Error).message.split('\n')
        if (!over.aborted && this.#trouble !== why) note(`recovery waits: ${why}`)
        this.#trouble = why
      }
    })
  }

  async #report(signal: AbortSignal): Promise<void> {
    // A start that cannot be settled causes no other, and must not keep the gateway from hearing of limits and of this bridge.
    const unsettled = await this.restarts.settle(signal).then(
      () => undefined,
      (error: Error) => error,
    )
    const { unsent } = this.#parking
    if (unsent) {
      this.#parking.sent(unsent, await this.#calls.park(unsent, signal))
    }
    const heard = await this.#calls.account(await this.#account(signal), signal)
    if (heard === undefined) {
      if (!this.#isOldSaid) {
        this.#parts.note('its gateway is of a version without recovery: it is woken, and not restarted')
      }
      this.#isOldSaid = true
      return
    }
    this.#isOldSaid = false
    this.#parking.told(heard.parked ?? null)
    if (unsettled) throw unsettled
    if (heard.order && !heard.parked) await this.restarts.carryOut(heard.order, signal)
  }

  async #account(signal: AbortSignal): Promise<Account> {
    const { journal, agent, startedAt } = this.#parts
    const { starts, lastAcceptAt, lastSweepAt, late } = journal.account.of(agentKey(agent))
    const { recipe, recipeState: restart } = this.restarts
    return {
      startedAt,
      starts,
      restart,
      ...(lastAcceptAt === undefined ? {} : { lastAcceptAt: new Date(lastAcceptAt).toISOString() }),
      ...(lastSweepAt === undefined ? {} : { lastSweepAt: new Date(lastSweepAt).toISOString() }),
      ...(late.length === 0 ? {} : { late: [...late] }),
      ...(recipe === undefined ? {} : { harness: recipe.harness }),
      ...(await this.#seen(signal)),
    }
  }

  /**
   * Returns the findings that need no look at the harnesses, which costs them a process: the session's own process, and what a watch
   * reports. A process that this bridge has started, and in which nothing works and no session lives, is none to wait for: it is ended
   * first.
   */
  async #seen(signal: AbortSignal): Promise<Pick<Account, 'process' | 'seen'>> {
    const known = await this.#live(signal)
    const session = known && here(processOf(known))
    const all = await this.#parts.conversations.ownReported(known, signal)
    const isLeft = ({ process, state }: HarnessSession) => state === 'idle' && this.restarts.hasStarted(process?.pid)
    const reported = all.filter((one) => session !== undefined || !isLeft(one))
    const process = session ?? here(reported.map((one) => one.process).find(Boolean))
    return { ...(process ? { process } : {}), seen: session !== undefined || reported.length > 0 }
  }

  /**
   * The live session of the agent. A harness that was killed does not report its end, and neither does one of a machine that was restarted: if the
   * process of the session has run here, and runs no more, the session is ended. That of another machine is left alone. Source: S3-6.
   */
  async #live(signal: AbortSignal): Promise<LiveSession | undefined> {
    const { journal, agent, gateway, own, note } = this.#parts
    const known = await own.read(signal)
    if (known?.pid === undefined || known.startedAt === undefined) return known
    const { id, pid, startedAt } = known
    const seen = journal.seenSession(agentKey(agent))
    if (seen?.sessionId === id && isGone(seen)) {
      own.forget()
      await gateway.call('DELETE /v1/sessions/:id', { params: { id }, query: { by: 'harness' }, mail: 'none', signal })
      note(`its session is ended: its harness, process ${pid}, runs no more`)
      return undefined
    }
    const found = processStart(pid)
    const isHere = found && isSameProcess({ pid, startedAt }, { pid, startedAt: found.startedAt }) === 'yes'
    if (isHere && (seen?.sessionId !== id || seen.pid !== pid)) {
      journal.saveSeen(agentKey(agent), { sessionId: id, pid, start: found.start })
    }
    return known
  }

  /** The processes of this machine in which the agent is open, looked for now. */
  async #open(signal: AbortSignal): Promise<number[]> {
    const { own, conversations } = this.#parts
    const [known, choice] = await Promise.all([own.read(signal), conversations.choose(signal)])
    const found = choice.kind === 'one' ? [choice.session] : choice.kind === 'misaddressed' ? choice.candidates : []
    const processes = [known && processOf(known), ...found.map((session) => session.process)]
    return processes.flatMap((process) => here(process)?.pid ?? [])
  }
}

/** A process, if it runs here. */
function here(process: Account['process'] | { readonly pid: number; readonly startedAt?: string } | undefined) {
  const found = process && processStart(process.pid)
  if (!process || !found || isSameProcess(process, { pid: process.pid, startedAt: found.startedAt }) === 'no')
    return undefined
  return { pid: process.pid, startedAt: found.startedAt }
}
