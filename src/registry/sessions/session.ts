import type { ReportedPresence } from '../../words/presence.ts'

/** Why a session ended: it said so, a person closed it, it was silent for too long, a newer one speaks for its agent, or its key has ended. Source: D12. */
export type EndReason = 'ended' | 'closed' | 'timeout' | 'preempted' | KeyEnd

/** How a key ends. */
export type KeyEnd = 'key-revoked' | 'key-expired'

/**
 * One running harness process that speaks for an agent. An agent has at most one live session. The stored presence may be old:
 * `presenceOf` returns what is still valid.
 */
export interface Session extends ReportedPresence {
  readonly id: string
  readonly projectId: string
  readonly agentId: string
  /** The kind of harness: `claude_code`, `codex`, `cron`, … */
  readonly surface: string
  readonly pid: number | null
  /** When the process started, ms since the epoch, by its own clock. */
  readonly processStartedAt: number | null
  readonly lastSeenAt: number
  /** When the harness itself last did something; a call of a program beside it is a sign of life, and no act. */
  readonly actedAt: number
  /** The size of its conversation in tokens; null: the harness has not said. */
  readonly contextTokens: number | null
  readonly createdAt: number
  readonly endReason: EndReason | null
  /** The newer session that preempted this one. */
  readonly successorId: string | null
  /** The key that started it; null: not known. */
  readonly keyId: string | null
  /** Where the harness works; null: it has not said. */
  readonly cwd: string | null
  /** The id under which the harness knows its conversation; null: it has not said. */
  readonly harnessSessionId: string | null
}

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
