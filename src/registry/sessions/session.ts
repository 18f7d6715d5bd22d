import { int, json, type NounOf, nullable, text, word } from '../../storage/columns.ts'
import type { PresenceSource, PresenceState } from '../../words/presence.ts'

/** Why a session ended: it said so, a person closed it, it was silent for too long, a newer one speaks for its agent, or its key has ended. Source: D12. */
export type EndReason = 'ended' | 'closed' | 'timeout' | 'preempted' | KeyEnd

/** How a key ends. */
export type KeyEnd = 'key-revoked' | 'key-expired'

export const sessionFields = {
  id: text,
  projectId: text,
  agentId: text,
  /** The kind of harness: `claude_code`, `codex`, `cron`, … */
  surface: text,
  capabilities: json<readonly string[]>(),
  pid: nullable(int),
  /** When the process started, ms since the epoch, by its own clock. */
  processStartedAt: nullable(int),
  state: word<PresenceState>(),
  source: word<PresenceSource>(),
  activeTurnId: nullable(text),
  presenceAt: nullable(int),
  /** The size of its conversation in tokens; null: the harness has not reported it. */
  contextTokens: nullable(int),
  /** When the harness itself last did something; a call of a program beside it is a sign of life, and no act. */
  actedAt: int,
  lastSeenAt: int,
  createdAt: int,
  endedAt: nullable(int),
  endReason: nullable(word<EndReason>()),
  /** The newer session that preempted this one. */
  successorId: nullable(text),
  /** The key that started it; null: not known. */
  keyId: nullable(text),
  /** Where the harness works; null: it has not said. */
  cwd: nullable(text),
  /** The id under which the harness knows its conversation; null: it has not said. */
  harnessSessionId: nullable(text),
}

/**
 * One running harness process that speaks for an agent. An agent has at most one live session. The stored presence may be old:
 * `presenceOf` returns what is still valid.
 */
export type Session = NounOf<typeof sessionFields>

/** The conversation of a harness, as it reports it. Absent fields keep their stored values. */
export interface Conversation {
  readonly cwd?: string | undefined
  readonly sessionId?: string | undefined
}

/** The identity of a process: its id and its start. */
export interface Process {
  readonly pid: number | null
  readonly processStartedAt: number | null
}

/**
 * Decides what happens when a process starts a session: there is no live one (`begin`), the live one is its own (`continue`), or of
 * an older process (`preempt`), or of a newer one (`refuse`). If one of the two does not say when it started, the process that
 * starts its session last is the newer one. Pure. Source: D12.
 */
export function succession(newcomer: Process, owner: Process | undefined): 'begin' | 'continue' | 'preempt' | 'refuse' {
  if (!owner) return 'begin'
  if (isSameProcess(newcomer, owner)) return 'continue'
  const { processStartedAt } = newcomer
  if (processStartedAt === null || owner.processStartedAt === null) return 'preempt'
  return processStartedAt < owner.processStartedAt ? 'refuse' : 'preempt'
}

/** A process is identified by its id and the instant of its start. A process that does not give both counts as new each time. */
export function isSameProcess(one: Process, other: Process): boolean {
  if (one.pid === null || one.processStartedAt === null) return false
  return one.pid === other.pid && one.processStartedAt === other.processStartedAt
}
