import type { GatewayClient } from '../../client/gateway-client.ts'
import { agentKey, type BridgedAgent } from '../config/bridge-config.ts'
import { type GuardVerdict, guard } from '../guards/guard.ts'
import type { Journal } from '../journal/journal.ts'
import type { AdapterHost } from './adapter-host.ts'
import type { Conversations } from './conversations.ts'
import { otherWriters } from './other-writers.ts'
import { isReadMeanwhile } from './read-meanwhile.ts'
import type { OutgoingReceipt } from './receipt-outbox.ts'
import { sendersOf } from './senders-of.ts'
import type { StepWatch } from './step-watch.ts'
import { WakeQueue } from './wake-queue.ts'

/** The parts of its run that the queue of an agent's wakes uses. */
interface AgentQueueParts {
  readonly agent: BridgedAgent
  readonly maxTurnsAMinute: number
  readonly harnessWaitMinutes: number
  readonly host: AdapterHost
  readonly journal: Journal
  readonly gateway: GatewayClient
  readonly conversations: Conversations
  readonly watch: StepWatch
  /** Why no turn may begin now, whoever wakes the agent. */
  readonly parked: () => GuardVerdict | undefined
  /** ms since the epoch */
  readonly now: () => number
  /** A line for the user about this agent. */
  readonly note: (text: string) => void
  readonly send: (receipt: OutgoingReceipt, givenUp?: () => Promise<void>) => void
}

const hourMs = 3_600_000

/** The queue of the wakes of one agent. All that it awaits is bounded. */
export function agentQueue(parts: AgentQueueParts): WakeQueue {
  const { agent, host, journal, gateway, conversations, watch, parked, now, note, send } = parts
  const { identity } = agent.profile
  return new WakeQueue({
    agent: agentKey(agent),
    journal,
    gateway,
    watch,
    adapter: (id) => host.adapter(id),
    row: (id) => host.row(id),
    choose: (signal) => watch.run('choose', () => conversations.choose(signal)),
    lookFor: (harness, id) => watch.run('find', () => conversations.lookFor(harness, id)),
    guard: (senders) => parked() ?? turnGuard(parts, senders),
    sendersOf: (wake, signal) => watch.run('senders', () => sendersOf(gateway, wake, signal)),
    patienceMs: parts.harnessWaitMinutes * 60_000,
    changed: (end, signal) => conversations.changed(end.session, signal),
    isRead: (wake, signal) => watch.run('read meanwhile', () => isReadMeanwhile(gateway, identity, wake, signal)),
    otherWriters: (wake, senders, signal) =>
      watch.run('senders', () => otherWriters(gateway, identity, wake, senders, signal)),
    now,
    note,
    send,
  })
}

/** Why a wake from these senders may not begin a turn now. Undefined: it may. */
function turnGuard({ agent, journal, maxTurnsAMinute, now }: AgentQueueParts, senders: readonly string[]) {
  const recent = {
    ofBridge: journal.nthLastTurn(maxTurnsAMinute),
    turns: journal.turnsOf(agentKey(agent), now() - hourMs, agent.turnsAnHour),
  }
  return guard({ agent: agent.profile.identity, senders }, { ...agent, maxTurnsAMinute }, recent, now())
}
