import type { LogEvent } from '../../log/event.ts'
import type { Trigger } from '../../words/events.ts'
import type { McpEventArguments, McpEventChoice, McpEventName } from '../../words/mcp-events.ts'

/** The fields of an event that a choice looks at. */
interface EventFields {
  readonly from?: string
  readonly priority?: string
  readonly taggedConcepts?: readonly string[]
  readonly isReplyTo?: string | null
  readonly threadId?: string
  readonly taskId?: string
  readonly messageId?: string
  readonly previousState?: string | null
  readonly newState?: string
  readonly originator?: string
  readonly assignee?: string
  readonly previousAssignee?: string
  readonly status?: string
  readonly scope?: string
  readonly step?: string
  readonly agent?: string
  readonly change?: string
}

interface McpEventRule {
  /** The trigger of the log events that it is made from. */
  readonly trigger: Trigger
  /** Whom it is for. An operator has tasks and sends mail, and has no inbox. */
  readonly isFor: readonly ('agent' | 'operator')[]
  /** True when an event of the trigger is one of this type, for the subscriber. */
  readonly isOne: (data: EventFields, self: string) => boolean
}

const everybody = ['agent', 'operator'] as const
const isAssignment = ({ previousState, previousAssignee, assignee }: EventFields, self: string): boolean =>
  assignee === self && (previousState === null || previousAssignee !== undefined)
const isAny = (): boolean => true

/** The event types that clients of MCP may subscribe to, and the events of the log that each is made from. */
export const mcpEventRules = {
  'mail.received': { trigger: 'SENT_TO_ME', isFor: ['agent'], isOne: (data) => isMail(data) && !data.taskId },
  'task.message_received': { trigger: 'SENT_TO_ME', isFor: ['agent'], isOne: (data) => isMail(data) && !!data.taskId },
  'task.assigned': { trigger: 'TASK_STATE_CHANGED', isFor: ['agent'], isOne: isAssignment },
  'task.state_changed': {
    trigger: 'TASK_STATE_CHANGED',
    isFor: everybody,
    isOne: (data, self) => !isAssignment(data, self),
  },
  'task.input_required': {
    trigger: 'TASK_STATE_CHANGED',
    isFor: everybody,
    isOne: ({ newState = '', originator }, self) =>
      ['input-required', 'auth-required'].includes(newState) && originator === self,
  },
  'permission.granted': { trigger: 'PERMISSION_GRANTED', isFor: ['agent'], isOne: isAny },
  'message.status_changed': { trigger: 'MESSAGE_STATUS_CHANGED', isFor: everybody, isOne: isAny },
  'wake.receipt': { trigger: 'WAKE_RECEIPT', isFor: everybody, isOne: isAny },
  'agent.needs_attention': { trigger: 'SUBSCRIPTION_DEGRADED', isFor: everybody, isOne: isAny },
  'operator.needed': {
    trigger: 'NEED_CHANGED',
    isFor: ['operator'],
    isOne: ({ change }) => change === 'raised',
  },
} as const satisfies Record<McpEventName, McpEventRule>

/** A pulse of recovery has the same trigger, and is no mail. */
function isMail({ messageId }: EventFields): boolean {
  return messageId !== undefined
}

/** True when a client has chosen an event whose trigger is that of its type. Every argument that is given must hold. Pure. */
export function isChosen({ name, arguments: wanted, self }: McpEventChoice, { data, actor }: LogEvent): boolean {
  const chosen = data as EventFields
  const rule: McpEventRule = mcpEventRules[name]
  return rule.isOne(chosen, self) && holds(wanted, chosen, self, actor)
}

function holds(wanted: McpEventArguments, data: EventFields, self: string, actor: string): boolean {
  const {
    from,
    priority,
    taggedConcepts = [],
    inReplyTo,
    taskId,
    messageId,
    states,
    role,
    scope,
    steps,
    agent,
  } = wanted
  if (!among(from, data.from ?? data.originator ?? actor)) return false
  if (priority !== undefined && data.priority !== priority) return false
  if (taggedConcepts.length > 0 && !taggedConcepts.some((one) => data.taggedConcepts?.includes(one))) return false
  if (!among(inReplyTo, data.isReplyTo ?? undefined) && !among(inReplyTo, data.threadId)) return false
  if (taskId !== undefined && data.taskId !== taskId) return false
  if (messageId !== undefined && data.messageId !== messageId) return false
  if (!among(states, data.newState ?? data.status)) return false
  if (role !== undefined && data[role] !== self) return false
  if (scope !== undefined && data.scope !== scope) return false
  return among(steps, data.step) && among(agent, data.agent)
}

/** An empty list asks for nothing. */
function among(list: readonly string[] | undefined, value: string | undefined): boolean {
  return !list?.length || (value !== undefined && list.includes(value))
}
