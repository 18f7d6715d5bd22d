import type { AgentView, NewAgentView, PresentAgentView } from '../../src/fronts/rest/agents/view.ts'
import type { EventPageView, EventView } from '../../src/fronts/rest/events/view.ts'
import type { AddedArtifactView, TaskView } from '../../src/fronts/rest/tasks/view.ts'
import type { AttemptView, DeliveryView, SubscriptionView } from '../../src/fronts/rest/wake-subscriptions/view.ts'

/** Answers of the gateway, whole: a field that the gateway adds, renames or drops breaks the build here. */
const at = '2026-04-26T10:00:00.000Z'

export function agent(fields: Partial<AgentView> = {}): AgentView {
  return {
    handle: '@donna',
    displayName: null,
    description: null,
    aliases: [],
    skills: [],
    inputModes: ['text/plain'],
    outputModes: ['text/plain'],
    access: 'project',
    contactPolicy: 'everybody',
    defaultWakePolicy: 'immediate',
    version: 1,
    project: 'default',
    createdAt: at,
    updatedAt: at,
    ...fields,
  }
}

/** An agent without a session. */
export function presentAgent(fields: Partial<AgentView> = {}): PresentAgentView {
  const presence = {
    state: 'unknown',
    source: 'unknown',
    asOf: null,
    ageMs: null,
    lastSeenAt: null,
    capabilities: [],
  } as const
  return { ...agent(fields), presence, session: null, lastSeenAt: null }
}

export function agentPage(...agents: PresentAgentView[]) {
  return { agents, nextPageToken: '' }
}

export function newAgent(fields: Partial<AgentView> = {}): NewAgentView {
  return { agent: agent(fields), apiKey: 'rk_new', keyId: 'k1' }
}

export function task(fields: Partial<TaskView> = {}): TaskView {
  const { state = 'working' } = fields
  return {
    id: 't1',
    contextId: 'c1',
    version: 7,
    state,
    originator: '@boss',
    agent: '@donna',
    assignee: '@donna',
    priority: 'normal',
    taggedConcepts: [],
    status: { state, timestamp: at },
    history: [],
    messageCount: 1,
    artifacts: [],
    createdAt: at,
    lastModifiedAt: at,
    ...fields,
  }
}

export function addedArtifact(artifactId: string): AddedArtifactView {
  const { artifacts: _, ...summary } = task()
  return { ...summary, artifactId }
}

export function subscription(fields: Partial<SubscriptionView> = {}): SubscriptionView {
  return {
    subscriptionId: 'WAKE_SUB:4e1f',
    agentIdentity: '@donna',
    trigger: 'SENT_TO_ME',
    filters: {},
    harnessTarget: 'a2a-webhook',
    harnessTargetMetadata: { url: 'http://127.0.0.1:9/', coalesceWindow: 30 },
    status: 'active',
    reason: null,
    failedInARow: 0,
    cursorLogId: 41,
    lastEmittedLogId: null,
    createdAt: at,
    updatedAt: at,
    ...fields,
  }
}

export function attempt(fields: Partial<AttemptView> = {}): AttemptView {
  return { at, status: 200, durationMs: 3.2, error: null, ...fields }
}

export function delivery(fields: Partial<DeliveryView> = {}): DeliveryView {
  return {
    eventId: '01H',
    eventType: 'wake/digest',
    logIds: [42, 44],
    eventCount: 3,
    attempts: [attempt()],
    outcome: 'delivered',
    step: null,
    createdAt: at,
    updatedAt: at,
    ...fields,
  }
}

export function event(logId: number): EventView {
  return { logId, type: 'message.sent', actor: '@boss', data: { subject: `mail ${logId}` }, createdAt: at }
}

export function eventPage(...events: EventView[]): EventPageView {
  const last = events.at(-1)?.logId ?? 0
  return { events, lastLogId: last, nextSince: last, more: false }
}
