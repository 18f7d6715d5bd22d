import { type Limit, limit, MiB } from './limits.ts'

const GiB = 1024 * MiB

/**
 * How often one agent may act. All of it may be used at once; of `requestsPerMinute`, 1,000, and of
 * `megabytesPerMinute`, 64. Kept in memory, on each gateway; `messagesPerMinute` is kept in the
 * store, for all gateways together. The operator is exempt.
 */
export const agentRates = {
  requestsPerMinute: limit(
    6_000,
    'a minute',
    'requests of one agent, on all bindings; a busy harness makes a few a second',
  ),
  megabytesPerMinute: limit(
    256,
    'a minute',
    'MiB of the requests of one agent and of their answers, streams included; counted when a request is over',
  ),
  messagesPerMinute: limit(
    300,
    'a minute',
    'mail and A2A messages that one agent sends; `ROUSE_MESSAGES_PER_MINUTE` is the default of a gateway',
  ),
  sessionStartsPerHour: limit(
    100,
    'an hour',
    'sessions that one agent starts; each is told to everybody who is there, and a harness starts a few a day',
  ),
  testsPerMinute: limit(60, 'a minute', 'test wakes of one agent; each is a request to a receiver, made by hand'),
  replaysPerMinute: limit(
    30,
    'a minute',
    'resyncs and replays of one agent; each reads the log back, and a receiver asks for one when it comes back',
  ),
  grantsPerHour: limit(
    100,
    'an hour',
    'permissions that one agent grants and revokes; each wakes the grantee, and a team is set up with a few dozen',
  ),
  keyMintsPerHour: limit(100, 'an hour', 'API keys that one agent makes; a fleet of harnesses takes one each'),
} as const satisfies Record<string, Limit>

/** How often the agents of one project together may act. In memory, on each gateway. */
export const projectRates = {
  projectRequestsPerMinute: limit(
    60_000,
    'a minute',
    'requests of all agents of a project; a thousand a second is what one gateway answers at ease',
  ),
} as const satisfies Record<string, Limit>

/** How much one agent may have. What the operator makes for an agent is not refused. */
export const agentNumbers = {
  subscriptions: limit(
    500,
    'items',
    'wake subscriptions of one agent; each may be a request to a receiver for one event',
  ),
  pushConfigs: limit(1_000, 'items', 'push notification configs of one agent on tasks that are not finished'),
  pushConfigsPerTask: limit(20, 'items', 'push notification configs of one caller on one task'),
  keys: limit(100, 'items', 'API keys of one agent that are not revoked'),
  grants: limit(1_000, 'items', 'permissions that one agent has granted'),
  requestsAtOnce: limit(64, 'at a time', 'requests of one agent that are worked on; more wait in line'),
  requestsAtOnceInCompany: limit(
    8,
    'at a time',
    'the same while others ask too: each request of theirs waits for those that are worked on',
  ),
  requestsInLine: limit(512, 'at a time', 'requests of one agent that wait in line; more are refused'),
  blockingCalls: limit(
    1_000,
    'at a time',
    'sends of one agent that wait for their task, on each gateway; one key may have half of them',
  ),
  streams: limit(
    100,
    'at a time',
    'open streams of one agent, on each gateway; one key may have half of them, and each event is written to all of them',
  ),
  bytesStored: limit(
    1 * GiB,
    'bytes',
    'messages, mail and artifacts that one agent has stored; half a million messages of 2 KB',
  ),
} as const satisfies Record<string, Limit>

/** How much one project may have. */
export const projectNumbers = {
  agents: limit(2_000, 'items', 'agents of a project, whoever makes them; so many cards a gateway keeps signed'),
  projectRequestsAtOnce: limit(
    256,
    'at a time',
    'requests of all agents of a project that are worked on; more wait in line',
  ),
  projectBytesStored: limit(10 * GiB, 'bytes', 'messages, mail and artifacts that the agents of a project have stored'),
} as const satisfies Record<string, Limit>

/** What the operator may set for each project. 0 is no limit. */
export const projectLimits = { ...agentRates, ...projectRates, ...agentNumbers, ...projectNumbers } as const
export type LimitName = keyof typeof projectLimits
export type RateName = keyof typeof agentRates | keyof typeof projectRates
/** What a project has instead of the defaults. */
export type LimitOverrides = { readonly [Name in LimitName]?: number }

/** Of these rates only so much may be used at once: what they count is the gateway's one thread. */
const atOnce: { readonly [Name in RateName]?: number } = {
  requestsPerMinute: 1_000,
  megabytesPerMinute: 64,
  projectRequestsPerMinute: 6_000,
}

/** What may be used at once of a rate, and how long that takes to come back, in ms. */
export function allowanceOf(name: RateName, perWindow: number): { readonly max: number; readonly windowMs: number } {
  const windowMs = projectLimits[name].unit === 'an hour' ? 3_600_000 : 60_000
  const max = Math.min(perWindow, atOnce[name] ?? perWindow)
  return { max, windowMs: (windowMs * max) / perWindow }
}
