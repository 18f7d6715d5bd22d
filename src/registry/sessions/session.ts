import type { Told } from './presence.ts'

/** Why a session is over: it said so, it was silent too long, a newer one speaks for its agent, or its key is gone. Source: D12. */
export type EndReason = 'ended' | 'timeout' | 'preempted' | KeyEnd

/** What becomes of a key. */
export type KeyEnd = 'key-revoked' | 'key-expired'

/**
 * One running harness process that speaks for an agent; at most one of an agent's sessions lives. What it last said that it does
 * may be old: `presenceOf` says what still holds.
 */
export interface Session extends Told {
  readonly id: string
  readonly projectId: string
  readonly agentId: string
  /** `claude_code`, `codex`, `cron`, …: what kind of harness it is. */
  readonly surface: string
  readonly pid: number | null
  /** When the process started, ms since the epoch, by its own clock. */
  readonly processStartedAt: number | null
  readonly lastSeenAt: number
  readonly createdAt: number
  readonly endReason: EndReason | null
  /** The session that took the identity over. */
  readonly successorId: string | null
  /** The key that started it; null: not known. */
  readonly keyId: string | null
}

/** What tells one process from another. */
export interface Process {
  readonly pid: number | null
  readonly processStartedAt: number | null
}

/**
 * What becomes of an identity when a process asks for it: it is free (`begin`), its own already (`continue`), another's that is
 * older (`preempt`) or another's that is newer (`refuse`). Where one of the two does not say when it started, who asks last is
 * the newer one. Pure. Source: D12.
 */
export function succession(newcomer: Process, owner: Process | undefined): 'begin' | 'continue' | 'preempt' | 'refuse' {
  if (!owner) return 'begin'
  if (isSameProcess(newcomer, owner)) return 'continue'
  const { processStartedAt } = newcomer
  if (processStartedAt === null || owner.processStartedAt === null) return 'preempt'
  return processStartedAt < owner.processStartedAt ? 'refuse' : 'preempt'
}

/** A process is known by its id and the instant of its start; one that does not say both is a new one each time. */
function isSameProcess(one: Process, other: Process): boolean {
  if (one.pid === null || one.processStartedAt === null) return false
  return one.pid === other.pid && one.processStartedAt === other.processStartedAt
}
