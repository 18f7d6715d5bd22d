import { settingDefaults } from '../../src/registry/recovery/gate.ts'
import { type BridgeAccount, noRecovery, type Recovery } from '../../src/registry/recovery/recovery.ts'
import type { Session } from '../../src/registry/sessions/session.ts'
import type { Facts } from '../../src/turns/facts.ts'

export const noon = Date.parse('2026-04-26T10:00:00.000Z')
export const minute = 60_000
const hour = 60 * minute

export const sessionOf = (fields: Partial<Session> = {}): Session => ({
  id: 'session_1',
  projectId: 'default',
  agentId: 'agent_donna',
  surface: 'codex',
  capabilities: [],
  pid: 4711,
  processStartedAt: noon - 2 * hour,
  state: 'unknown',
  source: 'unknown',
  activeTurnId: null,
  presenceAt: null,
  lastSeenAt: noon,
  actedAt: noon - hour,
  contextTokens: null,
  createdAt: noon - 2 * hour,
  endedAt: null,
  endReason: null,
  successorId: null,
  keyId: null,
  cwd: null,
  harnessSessionId: null,
  ...fields,
})

/** A live session with a report of its harness that is fresh. */
export const present = (state: Session['state']): Session =>
  sessionOf({ state, source: 'bridge-daemon', presenceAt: noon })

export const gone = (fields: Partial<Session> = {}): Session =>
  sessionOf({ id: 'session_0', endedAt: noon - 30 * minute, endReason: 'ended', ...fields })

export const account = (fields: Partial<BridgeAccount> = {}): BridgeAccount => ({
  startedAt: '2026-04-26T08:00:00.000Z',
  starts: 1,
  restart: 'proven',
  seen: false,
  ...fields,
})

export const recoveryOf = (fields: Partial<Recovery> = {}): Recovery => ({
  ...noRecovery('agent_donna', 'default'),
  ...fields,
})

/** With the bridge of an agent that can start its harness anew. */
export const bridged = (fields: Partial<Recovery> = {}, said: Partial<BridgeAccount> = {}): Recovery =>
  recoveryOf({ bridge: account(said), bridgeAt: noon, ...fields })

export const acting = (mode: 'nudge' | 'restart', since: number, sessionId = 'session_1'): Partial<Recovery> => ({
  epoch: 1,
  inFlight: { mode, since, deadlineAt: since + 15 * minute, begunAt: null, sessionId, evidence: {} },
})

/** A live agent, silent for an hour, with an unread message and a route that has proved itself: it is nudged. */
export const factsOf = (fields: Partial<Facts> = {}): Facts => ({
  now: noon,
  trouble: null,
  gate: { nudges: 'enabled', restarts: 'enabled', reason: null, since: noon - hour, settings: settingDefaults },
  reason: { key: 'message_1', unread: 1, openTasks: 0, oldestAt: noon - 30 * minute, senderIds: ['agent_lola'] },
  session: sessionOf(),
  former: null,
  earlier: [],
  route: { subscriptionId: 'WAKE_SUB:1', harnessTarget: 'bridge-daemon', isProven: true, provedAt: null },
  wokenAt: null,
  recovery: recoveryOf(),
  staleRounds: 2,
  ...fields,
})

/** An agent whose session is gone, with the bridge of its machine: its harness is started anew. */
export const goneFacts = (fields: Partial<Facts> = {}): Facts =>
  factsOf({ session: null, former: gone(), route: null, recovery: bridged(), ...fields })
