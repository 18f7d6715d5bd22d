import { Refused } from '../../client/failure.ts'
import { createGatewayClient, type GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { mayPass, type StreamItem, streamedWakes } from '../../client/wakes/streamed-wakes.ts'
import { sleep, systemClock } from '../../lib/clock.ts'
import { meaningOf } from '../../wakes/rules/receipts.ts'
import { agentKey, type BridgedAgent } from '../config/bridge-config.ts'
import { type Guarded, guard } from '../guards/guard.ts'
import type { Journal } from '../journal/journal.ts'
import type { KnownSession } from '../target/same-conversation.ts'
import type { AdapterHost } from './adapter-host.ts'
import { Conversations } from './conversations.ts'
import { otherWriters } from './other-writers.ts'
import { OwnSession } from './own-session.ts'
import { isGone, ownSubscriptions } from './own-subscriptions.ts'
import { PresenceReport } from './presence-report.ts'
import { isReadMeanwhile } from './read-meanwhile.ts'
import { type OutgoingReceipt, ReceiptOutbox } from './receipt-outbox.ts'
import { Recovery, type RecoveryTimes } from './recovery.ts'
import { sendersOf } from './senders-of.ts'
import { WakeQueue } from './wake-queue.ts'

/** What the run of an agent takes from its bridge. */
interface AgentRunParts {
  readonly agent: BridgedAgent
  readonly maxTurnsAMinute: number
  readonly harnessWaitMinutes: number
  readonly host: AdapterHost
  readonly journal: Journal
  readonly io: Io
  /** ms since the epoch */
  readonly now: () => number
  /** The live sessions of the other agents, as far as they are known. */
  readonly others: (signal: AbortSignal) => Promise<readonly KnownSession[]>
  /** A line for the user about this agent. */
  readonly note: (text: string) => void
  readonly noteReceipt: (receipt: OutgoingReceipt) => void
  /** For tests. */
  readonly recoveryTimes?: RecoveryTimes | undefined
}

export type RunState = 'connecting' | 'connected' | 'left' | 'stopped'

const retryMs = { first: 1_000, max: 30_000 } as const
const lastMax = 5
const hourMs = 3_600_000

/** The wakes of one agent: its stream, its receipts, its presence. What fails here is this agent's alone. Source: S1-19, S1-37, D28. */
export class AgentRun {
  readonly agent: BridgedAgent
  readonly queue: WakeQueue
  readonly session: OwnSession
  readonly #parts: AgentRunParts
  readonly #gateway: GatewayClient
  readonly #outbox: ReceiptOutbox
  readonly #presence: PresenceReport
  readonly #conversations: Conversations
  readonly #recovery: Recovery
  readonly #stopping = new AbortController()
  readonly #last: OutgoingReceipt[] = []
  #state: RunState = 'connecting'
  #reason = ''
  #wantsKey = false
  #running: Promise<void> | undefined

  constructor(parts: AgentRunParts) {
    const { agent, journal, host, io, now, note, noteReceipt, recoveryTimes: times } = parts
    const { profile } = agent
    this.agent = agent
    this.#parts = parts
    this.#gateway = createGatewayClient({
      url: profile.url,
      project: profile.project,
      credentials: async () => ({ key: profile.key, source: `profile ${profile.name}` }),
      fetch: io.fetch,
      signal: this.#stopping.signal,
    })
    const gateway = this.#gateway
    this.session = new OwnSession(gateway, now)
    this.#conversations = new Conversations(agent, host, this.session, parts.others)
    this.#outbox = new ReceiptOutbox({ gateway, refused: (error) => this.#refusedReport(error) })
    this.#recovery = new Recovery({ gateway, now, note, times })
    const told = () => this.#conversations.told()
    this.#presence = new PresenceReport({ gateway, own: this.session, told, now })
    this.queue = new WakeQueue({
      agent: agentKey(agent),
      journal,
      gateway,
      adapter: (id) => host.adapter(id),
      row: (id) => host.row(id),
      choose: (signal) => this.#conversations.choose(signal),
      lookFor: (harness, id) => this.#conversations.lookFor(harness, id),
      guard: (senders) => this.#guard(senders),
      sendersOf: (wake, signal) => sendersOf(gateway, wake, signal),
      patienceMs: parts.harnessWaitMinutes * 60_000,
      changed: (end, signal) => this.#conversations.changed(end.session, signal),
      isRead: (wake, signal) => isReadMeanwhile(gateway, profile.identity, wake, signal),
      otherWriters: (wake, senders, signal) => otherWriters(gateway, profile.identity, wake, senders, signal),
      now,
      note,
      send: (receipt) => {
        this.#last.unshift(receipt)
        this.#last.length = Math.min(this.#last.length, lastMax)
        noteReceipt(receipt)
        this.#outbox.add(receipt)
        if (meaningOf(receipt.step) === 'delivered') this.#recovery.arrived()
      },
    })
  }

  get state(): { readonly state: RunState; readonly reason: string } {
    const { reason = '' } = this.#recovery
    return { state: this.#state, reason: this.#reason || (this.#state === 'connected' ? reason : '') }
  }

  /** Whether it has ended because the key of its profile is none that an agent may use now: with another one it could run. */
  get wantsKey(): boolean {
    return this.#wantsKey
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
    await this.#outbox.stop(signal)
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    const endChanges = this.#conversations.onTold(() => this.#presence.note())
    try {
      for (let delayMs: number = retryMs.first; !signal.aborted; delayMs = Math.min(delayMs * 2, retryMs.max)) {
        try {
          await this.#follow()
          return
        } catch (error) {
          if (signal.aborted) return
          if (!mayPass(error) && !isGone(error)) return this.#refused(error)
          if (this.#state === 'connected') delayMs = retryMs.first
          this.#connecting(error)
          await sleep(systemClock, delayMs * (1 + 0.2 * Math.random()), signal)
        }
      }
    } catch (error) {
      this.#end('stopped', (error as Error).message)
    } finally {
      endChanges()
    }
  }

  /** Reads the stream until all subscriptions have left it. Errors: of a gateway that is away or refuses. */
  async #follow(): Promise<void> {
    const { agent, journal } = this.#parts
    const { kind, identity } = await this.#gateway.call('GET /v1/whoami', { mail: 'none' })
    if (kind !== 'agent') {
      this.#wantsKey = true
      return this.#end('stopped', `profile ${agent.profile.name} has the key of ${identity}, which is no agent`)
    }
    const subscriptionIds = await ownSubscriptions(this.#gateway, journal, agentKey(agent), agent.triggers)
    const { signal } = this.#stopping
    const capabilities = agent.harnesses.every((harness) => harness === 'exec')
      ? (['spawn'] as const)
      : (['append-only', 'turn/start'] as const)
    const away = () => this.#connecting(new Error('The stream of wakes ended.'))
    const over = new AbortController()
    const recovering = this.#recovery.run(subscriptionIds, AbortSignal.any([signal, over.signal]))
    try {
      for await (const item of streamedWakes(this.#gateway, { subscriptionIds, capabilities, signal, note: away })) {
        if (!this.#take(item)) return
      }
    } finally {
      over.abort()
      await recovering
    }
    this.#end('stopped', 'its subscriptions were removed, or their wakes go elsewhere. A restart subscribes again')
  }

  /** Returns false when this agent is another bridge's. */
  #take(item: StreamItem): boolean {
    if (item.kind === 'wake') this.queue.add(item.wake)
    else if (item.kind === 'connected') this.#connected()
    else if (item.reason === 'replaced') {
      this.#end('left', 'another bridge reads its wakes now. To have them here, stop that one, and restart this one')
      return false
    } else {
      this.queue.leave(item.subscriptionId)
      this.#parts.note(`The subscription ${item.subscriptionId} was changed or removed: it is no longer read here.`)
    }
    return true
  }

  #connected(): void {
    if (this.#state !== 'connected') this.#parts.note('connected')
    this.#state = 'connected'
    this.#reason = ''
  }

  #connecting(error: unknown): void {
    const [reason = ''] = (error as Error).message.split('\n')
    if (this.#reason !== reason) this.#parts.note(`${reason} Trying again …`)
    this.#state = 'connecting'
    this.#reason = reason
  }

  /** The gateway refuses this agent, now and later. */
  #refused(error: unknown): void {
    const problem = error instanceof Refused ? error.problem : {}
    const { name } = this.agent.profile
    const again = `its key is not valid any more. It goes on when its profile has another one: rouse login --profile ${name}`
    this.#wantsKey ||= problem.status === 401
    this.#end('stopped', problem.status === 401 ? again : textOf(error))
  }

  /** A report that the gateway does not take says nothing about the agent, but for its key. */
  #refusedReport(error: unknown): void {
    if (error instanceof Refused && error.problem.status === 401) this.#refused(error)
    else this.#parts.note(`The gateway refuses a report: ${textOf(error)}`)
  }

  /** This agent is done for, until a restart. The others go on. */
  #end(state: 'left' | 'stopped', reason: string): void {
    if (this.#stopping.signal.aborted || this.#state === 'left' || this.#state === 'stopped') return
    this.#state = state
    this.#reason = reason
    this.#parts.note(reason)
    this.#stopping.abort()
    void this.queue.stop()
    void this.#presence.stop()
    void this.#outbox.stop(this.#stopping.signal)
  }

  #guard(senders: readonly string[]): Guarded | undefined {
    const { agent, journal, maxTurnsAMinute, now } = this.#parts
    const recent = {
      ofBridge: journal.nthLastTurn(maxTurnsAMinute),
      turns: journal.turnsOf(agentKey(agent), now() - hourMs, agent.turnsAnHour),
    }
    return guard({ agent: agent.profile.identity, senders }, { ...agent, maxTurnsAMinute }, recent, now())
  }
}

function textOf(error: unknown): string {
  return error instanceof Refused ? String(error.problem.detail ?? error.message) : (error as Error).message
}
