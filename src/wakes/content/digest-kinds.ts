import type { JsonObject } from '../../lib/json.ts'
import type { LogEvent } from '../../log/event.ts'
import { agentTriggers } from '../../words/events.ts'

/** The kinds that a digest counts: the events of each trigger, and all signals together. */
export type DigestKind = (typeof agentTriggers)[number] | 'PULSE' | 'SIGNAL'

interface Kind {
  /** The fields of the payload: how many there are, and the newest. */
  readonly count: string
  readonly latest: string
  /** True: both fields are in every digest. False: only where there are such events. */
  readonly isAlwaysThere: boolean
  /** Their name in the summary, also where it is one: S1-40 has one form. */
  readonly many: string
  /** Describes the newest event in the summary. */
  readonly describe: (latest: JsonObject) => string
}

/** How each kind appears in a digest, in the order of the summary. Source: S1-40; the last four kinds are ours. */
export const digestKinds: Readonly<Record<DigestKind, Kind>> = {
  SENT_TO_ME: {
    count: 'newMessages',
    latest: 'latestMessage',
    isAlwaysThere: true,
    many: 'new messages',
    describe: ({ subject, messageId, from }) => `${subject ? `"${subject}"` : messageId} from ${from}`,
  },
  TASK_STATE_CHANGED: {
    count: 'taskTransitions',
    latest: 'latestTaskTransition',
    isAlwaysThere: true,
    many: 'task transitions',
    describe: ({ previousState, newState, taskId }) => `${previousState ?? 'none'} → ${newState} on task ${taskId}`,
  },
  PERMISSION_GRANTED: {
    count: 'permissionsGranted',
    latest: 'latestPermission',
    isAlwaysThere: true,
    many: 'permissions granted',
    describe: ({ scope, grantedBy }) => `${scope} by ${grantedBy}`,
  },
  MESSAGE_STATUS_CHANGED: {
    count: 'messageStatuses',
    latest: 'latestMessageStatus',
    isAlwaysThere: false,
    many: 'message statuses',
    describe: ({ subject, messageId, status, recipient }) =>
      `${subject ? `"${subject}"` : messageId} ${status} by ${recipient}`,
  },
  WAKE_RECEIPT: {
    count: 'wakeReceipts',
    latest: 'latestWakeReceipt',
    isAlwaysThere: false,
    many: 'wake receipts',
    describe: ({ step, messageId, recipient }) => `${step} by ${recipient} for ${messageId}`,
  },
  PULSE: {
    count: 'heartbeats',
    latest: 'latestHeartbeat',
    isAlwaysThere: false,
    many: 'heartbeats',
    describe: ({ reason }) => String(reason),
  },
  SIGNAL: {
    count: 'signals',
    latest: 'latestSignal',
    isAlwaysThere: false,
    many: 'signals',
    describe: ({ signal, subscriptionId, agent }) =>
      `${signal}${subscriptionId === undefined ? '' : ` on ${subscriptionId}`}${agent === undefined ? '' : ` of ${agent}`}`,
  },
}

/** Returns what an event that fires a trigger counts as. */
export function digestKindOf({ type, trigger }: Pick<LogEvent, 'type' | 'trigger'>): DigestKind {
  if (type === 'heartbeat.pulse') return 'PULSE'
  return agentTriggers.find((kind) => kind === trigger) ?? 'SIGNAL'
}
