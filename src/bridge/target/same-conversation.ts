import type { HarnessSession } from '../adapter.ts'

/** The session of an agent, as far as the gateway knows it. */
export interface KnownSession {
  readonly surface: string
  readonly pid?: number | undefined
  /** ISO 8601 */
  readonly startedAt?: string | undefined
  readonly cwd?: string | undefined
  /** The id under which the harness knows its conversation, as its hooks have reported last. */
  readonly conversationId?: string | undefined
}

type Process = NonNullable<HarnessSession['process']>

/** Systems report the start of a process to a second, and round it. No pid is used again within that. */
const startToleranceMs = 2_000

/**
 * Decides whether two are one process: `maybe` where a start is not known. The same pid with another start is another process: pids are used
 * again. Pure. Source: D12.
 */
export function isSameProcess(one: Process, other: Process): 'yes' | 'maybe' | 'no' {
  if (one.pid !== other.pid) return 'no'
  if (one.startedAt === undefined || other.startedAt === undefined) return 'maybe'
  const apartMs = Math.abs(Date.parse(one.startedAt) - Date.parse(other.startedAt))
  return apartMs <= startToleranceMs ? 'yes' : 'no'
}

/** The process of a session that the gateway knows; undefined: it does not. Pure. */
export function processOf({ pid, startedAt }: KnownSession): Process | undefined {
  if (pid === undefined) return undefined
  return startedAt === undefined ? { pid } : { pid, startedAt }
}

/** True when two ways lead into one conversation: a harness, and the terminal that it runs in. Pure. */
export function isSameConversation(one: HarnessSession, other: HarnessSession): boolean {
  if (one.conversationId === other.conversationId) return true
  if (one.harness === other.harness || !one.process || !other.process) return false
  return isSameProcess(one.process, other.process) === 'yes'
}

/** True when a session of the gateway is that of a conversation, as far as both report it. Pure. */
export function isOf(known: KnownSession, session: HarnessSession): boolean {
  const process = processOf(known)
  const same = process && session.process ? isSameProcess(process, session.process) : undefined
  const isNamed = known.conversationId !== undefined && known.conversationId === session.conversationId
  // The process is the session: its conversation may have another id since, and another process may have gone on with the old one.
  if (same === 'yes') return true
  if (same === 'no') return false
  return isNamed
}
