import { KiB, type Limit, limit, MiB } from './limits.ts'

const GiB = 1024 * MiB

/**
 * How often one agent may act. The whole rate may be used at once, except `requestsPerMinute` (1,000 at once),
 * `mcpSessionsPerMinute` (60 at once), `megabytesPerMinute` (64 at once), `largeMegabytesPerMinute` (1 at once) and `changesPerDay`
 * (5,000 at once). Counted in memory, on each gateway; messages are counted in the store, for all gateways together. Operators have limits of their own.
 */
export const agentRates = {
  requestsPerMinute: limit(
    6_000,
    'a minute',
    'requests of one agent, on all bindings; the opening of a stream of wakes counts once more for each 5 subscriptions; one key may make a part of them while another is in use (`requestsOfKey`); a busy harness makes a few in a second',
  ),
  megabytesPerMinute: limit(
    256,
    'a minute',
    'MiB of the requests of one agent and of their answers, streams included; counted when a request is over',
  ),
  largeMegabytesPerMinute: limit(
    30,
    'a minute',
    'MiB of requests and answers over 64 KiB of one agent while other agents send requests too; more wait up to 30 seconds, because the others wait for each of them',
  ),
  messagesPerMinute: limit(
    300,
    'a minute',
    'mail and A2A messages of one agent; mail to many counts once for each 50 of them; `ROUSE_MESSAGES_PER_MINUTE` sets the default',
  ),
  sessionStartsPerHour: limit(
    100,
    'an hour',
    'sessions that one agent starts; each notifies every agent with a session, and a harness starts a few in a day',
  ),
  mcpSessionsPerMinute: limit(
    120,
    'a minute',
    'MCP sessions that one agent begins; each costs as much as several requests, and a harness begins one when it starts',
  ),
  testsPerMinute: limit(60, 'a minute', 'test wakes of one agent; each sends a request to a receiver'),
  replaysPerMinute: limit(
    30,
    'a minute',
    'resyncs and replays of one agent, also those of a stream of an MCP session that continues; each reads old events, and a receiver needs one after it was down',
  ),
  grantsPerHour: limit(
    100,
    'an hour',
    'permissions that one agent grants; each wakes the grantee, and a team needs a few dozen. Revoking is free',
  ),
  keyMintsPerHour: limit(100, 'an hour', 'API keys that one agent makes; each harness needs one'),
  changesPerDay: limit(
    20_000,
    'a day',
    'changes by one agent that take no bytes of `bytesStored`: to itself, tasks, mail, subscriptions, sessions, claims, permissions and push configs. Each adds to the log and the audit; a task takes a few. Revocations count for each key by itself',
  ),
} as const satisfies Record<string, Limit>

/**
 * How often the agents of one project together may act: ten to twenty times as often as one of them. The whole rate may be used at once,
 * except `projectRequestsPerMinute` (6,000 at once), `projectMcpSessionsPerMinute` (1,200), `projectMegabytesPerMinute` (1,024) and
 * `projectChangesPerDay` (100,000). In memory, on each gateway. What an operator does counts against none of them.
 */
export const projectRates = {
  projectRequestsPerMinute: limit(
    60_000,
    'a minute',
    'requests of all agents of a project; one gateway can answer a thousand in a second',
  ),
  projectMegabytesPerMinute: limit(
    4_096,
    'a minute',
    'MiB of the requests of all agents of a project and of their answers, streams included; counted when a request is over',
  ),
  projectMessagesPerMinute: limit(
    6_000,
    'a minute',
    'the same for all agents of a project; 20 times `ROUSE_MESSAGES_PER_MINUTE` where that is more, and no limit where that is 0',
  ),
  projectSessionStartsPerHour: limit(2_000, 'an hour', 'sessions that all agents of a project start'),
  projectMcpSessionsPerMinute: limit(2_400, 'a minute', 'MCP sessions that all agents of a project begin'),
  projectTestsPerMinute: limit(1_200, 'a minute', 'test wakes of all agents of a project'),
  projectReplaysPerMinute: limit(600, 'a minute', 'resyncs and replays of all agents of a project'),
  projectGrantsPerHour: limit(2_000, 'an hour', 'permissions that all agents of a project grant. Revoking is free'),
  projectKeyMintsPerHour: limit(2_000, 'an hour', 'API keys that all agents of a project make'),
  projectChangesPerDay: limit(
    400_000,
    'a day',
    'changes by all agents of a project that count against `changesPerDay`. Revocations do not count: what others of the project do must not keep an agent from revoking a key',
  ),
} as const satisfies Record<string, Limit>

/**
 * The rate of the project that an act counts against too, by the rate of its agent. `largeMegabytesPerMinute` has none: it spaces what one
 * agent moves, and what a project moves is in `projectMegabytesPerMinute`.
 */
export const projectRateOf = {
  requestsPerMinute: 'projectRequestsPerMinute',
  megabytesPerMinute: 'projectMegabytesPerMinute',
  largeMegabytesPerMinute: undefined,
  messagesPerMinute: 'projectMessagesPerMinute',
  sessionStartsPerHour: 'projectSessionStartsPerHour',
  mcpSessionsPerMinute: 'projectMcpSessionsPerMinute',
  testsPerMinute: 'projectTestsPerMinute',
  replaysPerMinute: 'projectReplaysPerMinute',
  grantsPerHour: 'projectGrantsPerHour',
  keyMintsPerHour: 'projectKeyMintsPerHour',
  changesPerDay: 'projectChangesPerDay',
} as const satisfies Record<keyof typeof agentRates, keyof typeof projectRates | undefined>

/** How much one agent may have. Resources that the operator makes for an agent are never refused. */
export const agentNumbers = {
  subscriptions: limit(
    500,
    'items',
    'wake subscriptions of one agent; one event may cause a request to the receiver of each',
  ),
  subscriptionBytes: limit(
    256 * KiB,
    'bytes',
    'filters and targets of the wake subscriptions of one agent together, as JSON: one event may compare all of them',
  ),
  pushConfigs: limit(
    1_000,
    'items',
    'push notification configs of one agent. When the number is reached, the oldest on finished tasks are deleted',
  ),
  pushConfigsPerTask: limit(20, 'items', 'push notification configs of one caller on one task'),
  keys: limit(100, 'items', 'API keys of one agent that are not revoked'),
  grants: limit(1_000, 'items', 'permissions that one agent has granted'),
  claims: limit(
    1_000,
    'items',
    'refs that one agent owns by a claim; hand-offs by other agents give it half of them at most. Claims on finished tasks end when the number is reached',
  ),
  requestsAtOnce: limit(64, 'at a time', 'requests of one agent that are processed; more wait in a queue'),
  requestsAtOnceInCompany: limit(
    8,
    'at a time',
    'the same while other agents have requests too, which wait for the processed ones',
  ),
  requestsInLine: limit(512, 'at a time', 'requests of one agent that wait in the queue; more are refused'),
  blockingCalls: limit(
    1_000,
    'at a time',
    'blocking sends of one agent and its waits for mail, on each gateway; one key may have half of them',
  ),
  streams: limit(
    100,
    'at a time',
    'open streams of one agent, on each gateway; one key may have half of them, and each event is written to all of them',
  ),
  bytesStored: limit(
    1 * GiB,
    'bytes',
    'messages, mail and artifacts that one agent has stored, and 256 bytes for each claim that it has made, e.g. half a million messages of 2 KB',
  ),
} as const satisfies Record<string, Limit>

/** What one key may use of its agent's share, so that a stolen key does not lock out the others. Nobody may change these. */
export const oneKeyLimits = {
  requestsOfKey: limit(
    75,
    'percent',
    'of `requestsPerMinute` that one key may use while another key of its agent is in use: it was used within the last minute',
  ),
  revocationsPerMinute: limit(
    10,
    'a minute',
    'requests of one key that list and revoke keys, tokens and permissions over REST, whatever its agent and its project have used up; further ones count like others',
  ),
} as const satisfies Record<string, Limit>

/** How many records of wakes are kept. A sweep removes the oldest ones beyond that. Nobody may change these. */
export const keptLimits = {
  heldKept: limit(
    5_000,
    'items',
    'held events of one wake subscription; an older one is no longer listed, does not appear in the digest after a change of presence, and is sent by a resync from before it; it stays in the log, and its mail in the inbox',
  ),
  deliveriesKept: limit(
    1_000,
    'items',
    'finished deliveries of one wake subscription; an older one is no longer listed, and is replayed by its `logId` only; its event stays in the log',
  ),
  pushesKept: limit(50, 'items', 'finished deliveries of one push config'),
} as const satisfies Record<string, Limit>

/** How much one project may have. */
export const projectNumbers = {
  agents: limit(
    2_000,
    'items',
    'agents of a project, made by an operator or by an agent; a gateway caches the signed cards of several such projects',
  ),
  projectRequestsAtOnce: limit(
    256,
    'at a time',
    'requests of all agents of a project that are worked on; more wait in line',
  ),
  projectStreams: limit(
    4_000,
    'at a time',
    'open streams of all agents of a project, on each gateway: two for each of 2,000 agents',
  ),
  projectBlockingCalls: limit(
    10_000,
    'at a time',
    'blocking sends of all agents of a project and their waits for mail, on each gateway: five for each of 2,000 agents',
  ),
  projectBytesStored: limit(10 * GiB, 'bytes', 'messages, mail and artifacts that the agents of a project have stored'),
} as const satisfies Record<string, Limit>

/** The number of the project that an open call counts against too, by the number of its agent. */
export const projectNumberOf = {
  streams: 'projectStreams',
  blockingCalls: 'projectBlockingCalls',
} as const satisfies { readonly [Name in keyof typeof agentNumbers]?: keyof typeof projectNumbers }

/** Mail and A2A messages between agents within ten minutes, counted for all gateways together. Set for a gateway, not for a project. */
export const stormLimits = {
  stormTurns: limit(
    60,
    'items',
    'turns of two agents that write to each other, and broadcasts of one agent; then neither for ten minutes; `ROUSE_STORM_TURNS` sets it',
  ),
  stormMessages: limit(
    600,
    'items',
    'direct messages to one agent; then as many again, but no two in a row from one sender; `ROUSE_STORM_MESSAGES` sets it',
  ),
} as const satisfies Record<string, Limit>

/** The limits that the operator may set for each project. 0 is no limit. */
export const projectLimits = { ...agentRates, ...projectRates, ...agentNumbers, ...projectNumbers } as const
export type LimitName = keyof typeof projectLimits
export type RateName = keyof typeof agentRates | keyof typeof projectRates
/** The limits of a project that differ from the defaults. */
export type LimitOverrides = { readonly [Name in LimitName]?: number }

/** The part of a rate that may be used at once, where it is not the whole. */
const atOnce: { readonly [Name in RateName]?: number } = {
  requestsPerMinute: 1_000,
  mcpSessionsPerMinute: 60,
  megabytesPerMinute: 64,
  largeMegabytesPerMinute: 1,
  changesPerDay: 5_000,
  projectRequestsPerMinute: 6_000,
  projectMcpSessionsPerMinute: 1_200,
  projectMegabytesPerMinute: 1_024,
  projectChangesPerDay: 100_000,
}

const windowsMs: { readonly [Unit in Limit['unit']]?: number } = {
  'a minute': 60_000,
  'an hour': 3_600_000,
  'a day': 86_400_000,
}

/** Returns the time, in ms, in which the whole of a rate is available once. */
export const windowMsOf = (name: RateName): number => windowsMs[projectLimits[name].unit]!

type AllowanceOf = (perWindow: number) => { readonly max: number; readonly windowMs: number }

/** Returns how much of a rate may be used at once, and how long it takes to become available again, in ms. */
export const allowanceOf = (name: RateName, perWindow: number): ReturnType<AllowanceOf> => allowancesOf(name)(perWindow)

/** Returns `allowanceOf` for one rate: what does not depend on the number is looked up once. */
export function allowancesOf(name: RateName): AllowanceOf {
  const atOnceMax = atOnce[name] ?? Number.POSITIVE_INFINITY
  const wholeMs = windowMsOf(name)
  return (perWindow) => {
    const max = Math.min(perWindow, atOnceMax)
    return { max, windowMs: (wholeMs * max) / perWindow }
  }
}
