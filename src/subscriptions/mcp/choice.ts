import { createHash } from 'node:crypto'
import { Problem } from '../../errors.ts'
import { isJsonObject } from '../../lib/json.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import { initialWakeState, type WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import { mcpEventRules } from '../../wakes/rules/mcp-events.ts'
import {
  type McpEventArguments,
  type McpEventChoice,
  type McpEventName,
  mcpEventNames,
} from '../../words/mcp-events.ts'
import { subjectsFor } from '../target-input.ts'

/** Returns the types that a caller may subscribe to. Peers and keys of other kinds have none. Pure. */
export function eventTypesFor({ kind }: Pick<Caller, 'kind'>): readonly McpEventName[] {
  return mcpEventNames.filter((name) => (mcpEventRules[name].isFor as readonly string[]).includes(kind))
}

/** Returns the type of a name. Errors: `event-type-not-found`, also for a type that is not for the caller. */
export function requireEventType(caller: Pick<Caller, 'kind'>, name: string): McpEventName {
  const known = eventTypesFor(caller).find((one) => one === name)
  if (known !== undefined) return known
  throw new Problem('event-type-not-found', {
    field: 'name',
    detail: 'name: there is no event type of this name for you.',
    remedy: 'choose-event-type',
    extra: { known: eventTypesFor(caller).join(', ') },
  })
}

export function choiceOf(caller: Caller, name: McpEventName, given: McpEventArguments): McpEventChoice {
  return { name, arguments: given, self: caller.identity }
}

/** Returns the subscription of a caller to what it has chosen, not stored yet. A poll reads as this one. Pure. */
export function subscriptionTo(caller: Caller, choice: McpEventChoice): WakeSubscription {
  const { id: agentId, projectId, keyId } = caller
  const { includeOwn } = choice.arguments
  return {
    ...initialWakeState,
    id: '',
    kind: 'wake',
    projectId,
    agentId,
    audience: agentId,
    trigger: mcpEventRules[choice.name].trigger,
    filters: {},
    harnessTarget: 'mcp-webhook',
    target: { mcpEvent: choice, ...(includeOwn ? { includeOwn } : {}), ...subjectsFor(caller) },
    coalesceMs: 0,
    signingKey: null,
    status: 'active',
    reason: null,
    cursorLogId: 0,
    sessionId: null,
    keyId,
    managedBy: null,
    createdAt: 0,
    updatedAt: 0,
  }
}

/**
 * Returns the id of a subscription as its client knows it: the same for ever for the same caller, URL, type and arguments, in whatever
 * order and spelling those are written. It gives no right. Pure. Source: SEP-3415, subscription identity.
 */
export function mcpSubscriptionId(caller: Caller, url: string, { name, arguments: given }: McpEventChoice): string {
  const address = URL.canParse(url) ? new URL(url).href : url
  const key = JSON.stringify([caller.projectId, caller.id, address, name, sorted(given)])
  return `sub_${createHash('sha256').update(key).digest('hex').slice(0, 32)}`
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, field]) => [name, sorted(field)]))
}
