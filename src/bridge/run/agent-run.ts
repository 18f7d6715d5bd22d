import { createGatewayClient, type GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { readOverlaps } from '../../client/overlaps.ts'
import { Recovery, type RecoveryTimes } from '../../client/wakes/recovery.ts'
import { mayPass, type StreamItem, streamedWakes } from '../../client/wakes/streamed-wakes.ts'
import { BackOff } from '../../lib/back-off.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { meaningOf } from '../../words/receipts.ts'
import { AgentApprovals } from '../approvals/agent-approvals.ts'
import { agentKey, type BridgedAgent } from '../config/bridge-config.ts'
import type { Journal } from '../journal/journal.ts'
import { AgentRecovery } from '../recovery/agent-recovery.ts'
import type { KnownSession } from '../target/same-conversation.ts'
import type { AdapterHost } from './adapter-host.ts'
import { agentQueue } from './agent-queue.ts'
import { AgentState, type RunState } from './agent-state.ts'
import { Conversations } from './conversations.ts'
import { OwnSession } from './own-session.ts'
import { isGone, ownSubscriptions } from './own-subscriptions.ts'
import { PresenceReport } from './presence-report.ts'
import { type OutgoingReceipt, ReceiptOutbox } from './receipt-outbox.ts'
import { StepWatch } from './step-watch.ts'
import type { WakeQueue } from './wake-queue.ts'

/** The parts of its bridge that the run of an agent uses. */
interface AgentRunParts {
  readonly agent: BridgedAgent
  readonly maxTurnsAMinute: number
  readonly harnessWaitMinutes: number
  readonly host: AdapterHost
  readonly journal: Journal
  readonly io: Io
  /** ms since the epoch */
  readonly now: () => number
  /** When this bridge started; ISO 8601. */
  readonly startedAt: string
  /** The live sessions of the other agents, as far as they are known. */
  readonly others: (signal: AbortSignal) => Promise<readonly KnownSession[]>
  /** A line for the user about this agent. */
  readonly note: (text: string) => void
  readonly noteReceipt: (receipt: OutgoingReceipt) => void
  /** For tests. */
  readonly recoveryTimes?: RecoveryTimes | undefined
  readonly accountMs?: number | undefined
}

const retryMs = { first: 1_000, max: 30_000 } as const
const lastMax = 5

/** The wakes of one agent: its stream, its receipts, its presence. What fails here is this agent's alone. Source: S1-19, S1-37, D28. */
export class AgentRun {
  readonly agent: BridgedAgent
  readonly queue: WakeQueue
  readonly session: OwnSession
  readonly recovery: AgentRecovery
  readonly #parts: AgentRunParts
  readonly #gateway: GatewayClient
  readonly #outbox: ReceiptOutbox
  readonly #presence: PresenceReport
  readonly #approvals: AgentApprovals
  readonly #conversations: Conversations
  readonly #missedWakes: Recovery
  readonly #stopping = new AbortController()
  readonly #last: OutgoingReceipt[] = []
  readonly #state: AgentState
  #running: Promise<void> | undefined

  constructor(parts: AgentRunParts) {
    const { agent, journal, host, io, now, startedAt, accountMs, note, noteReceipt, recoveryTimes: times } = parts
    const { profile } = agent
    this.agent = agent
    this.#parts = parts
    const over = this.#stopping.signal
    this.#state = new AgentState({ profile: profile.name, note, over, ended: () => this.#ended() })
    this.#gateway = createGatewayClient({
      url: profile.url,
      project: profile.project,
      credentials: async () => ({ key: profile.key, source: `profile ${profile.name}` }),
      fetch: io.fetch,
      signal: over,
    })
    const gateway = this.#gateway
    this.session = new OwnSession(gateway, now)
    this.#conversations = new Conversations(agent, host, this.session, parts.others)
    this.#outbox = new ReceiptOutbox({
      gateway,
      refused: (error) => this.#state.reportRefused(error),
      note,
    })
    this.#missedWakes = new Recovery({ gateway, now, note, times })
    const reported = () => this.#conversations.reported()
    this.#presence = new PresenceReport({
      gateway,
      own: this.session,
      reported,
      sourceOf: (id) => host.row(id).presenceSource,
      now,
    })
    const clock: Clock = { ...systemClock, now }
    const watch = new StepWatch(clock, parts.harnessWaitMinutes * 60_000, (step) => {
      note(`a step of a wake has taken too long, and is given up: ${step}`)
      journal.account.late(agentKey(agent), step)
    })
    const conversations = this.#conversations
    const own = this.session
    this.#approvals = new AgentApprovals({ agent, gateway, conversations, host, note, over })
    this.recovery = new AgentRecovery({
      agent,
      journal,
      gateway,
      own,
      conversations,
      env: io.env,
      clock,
      startedAt,
      note,
      over,
      everyMs: accountMs,
    })
    this.queue = agentQueue({
      ...parts,
      gateway,
      conversations,
      watch,
      parked: () => this.recovery.parked,
      send: (receipt, givenUp) => {
        this.#last.unshift(receipt)
        this.#last.length = Math.min(this.#last.length, lastMax)
        noteReceipt(receipt)
        this.#outbox.add(receipt, givenUp)
        if (meaningOf(receipt.step) === 'delivered') this.#missedWakes.arrived()
      },
    })
  }

  get state(): { readonly state: RunState; readonly reason: string } {
    const { state, reason } = this.#state
    return { state, reason: reason || (state === 'connected' && this.#missedWakes.reason) || '' }
  }

  /** True when it has ended because no agent may use the key of its profile now: with another key it could run. */
  get wantsKey(): boolean {
    return this.#state.wantsKey
  }

  /** The newest receipts, the last one first. */
  get last(): readonly OutgoingReceipt[] {
    return this.#last
  }

  /** Runs until it is stopped, or this agent can be woken no more. Never rejects. */
  run(): Promise<void> {
    this.#running ??= this.#run()
    return this.#running
  }

  /** Stops. What was handed over is in the journal; resolves at the latest when the signal aborts. */
  async stop(signal: AbortSignal): Promise<void> {
    this.#stopping.abort()
    await this.queue.stop()
    await this.#presence.stop()
    await this.#approvals.stop(signal)
    await this.#outbox.stop(signal)
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    const endChanges = this.#conversations.onReported(() => this.#presence.note())
    const endAsked = this.#approvals.start()
    const endLimits = this.#parts.host.onLimit((...shown) => void this.recovery.limited(...shown))
    try {
      const backOff = new BackOff(retryMs)
      while (!signal.aborted) {
        try {
          await this.#follow()
          return
        } catch (error) {
          if (signal.aborted) return
          if (!mayPass(error) && !isGone(error)) return this.#state.refused(error)
          if (this.#state.state === 'connected') backOff.reset()
          this.#state.connecting(error)
          await backOff.pause(signal)
        }
      }
    } catch (error) {
      this.#state.end('stopped', (error as Error).message)
    } finally {
      endChanges()
      endAsked()
      endLimits()
    }
  }

  /** Reads the stream until all subscriptions have left it. Errors: of a gateway that is away or refuses. */
  async #follow(): Promise<void> {
    const { agent, journal } = this.#parts
    const { kind, identity } = await this.#gateway.call('GET /v1/whoami', { mail: 'none' })
    if (kind !== 'agent') return this.#state.notAnAgent(identity)
    const subscriptionIds = await ownSubscriptions(this.#gateway, journal, agentKey(agent), agent.triggers)
    const { signal } = this.#stopping
    for (const text of await readOverlaps(this.#gateway, subscriptionIds))
      this.#parts.note(`two turns for one mail: ${text}`)
    // Before the first wake: what was left is settled, and a harness at its limit is not woken.
    await this.recovery.turn()
    const capabilities = agent.harnesses.every((harness) => harness === 'exec')
      ? (['spawn'] as const)
      : (['append-only', 'turn/start'] as const)
    const away = () => this.#state.connecting(new Error('The stream of wakes ended.'))
    const over = new AbortController()
    const either = AbortSignal.any([signal, over.signal])
    const recovering = Promise.all([this.#missedWakes.run(subscriptionIds, either), this.recovery.run(either)])
    try {
      for await (const item of streamedWakes(this.#gateway, { subscriptionIds, capabilities, signal, note: away })) {
        if (!this.#take(item)) return
      }
    } finally {
      over.abort()
      await recovering
    }
    this.#state.end(
      'stopped',
      'its subscriptions were removed, or their wakes go elsewhere. A restart subscribes again',
    )
  }

  /** Returns false when this agent is another bridge's. */
  #take(item: StreamItem): boolean {
    if (item.kind === 'wake') this.queue.add(item.wake)
    else if (item.kind === 'connected') this.#state.connected()
    else if (item.reason === 'replaced') {
      this.#state.end(
        'left',
        'another bridge reads its wakes now. To have them here, stop that one, and restart this one',
      )
      return false
    } else {
      this.queue.leave(item.subscriptionId)
      this.#parts.note(`The subscription ${item.subscriptionId} was changed or removed: it is no longer read here.`)
    }
    return true
  }

  /** This agent is done until a restart. The other agents go on. */
  #ended(): void {
    this.#stopping.abort()
    void this.queue.stop()
    void this.#presence.stop()
    void this.#outbox.stop(this.#stopping.signal)
  }
}
