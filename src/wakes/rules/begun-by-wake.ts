import type { Process, Session } from '../../registry/sessions/session.ts'

/** What says how a session began. */
export type Beginning = Process & Pick<Session, 'createdAt' | 'endedAt'>

/** A process that begins this long after a wake of its agent was begun by it. */
export const beginsWithinMs = 60_000
/** The clocks of a harness and of its gateway may differ by this much. */
const clockSlackMs = 2_000

/** When the wakes of an agent's webhooks arrived around an instant, ms since the epoch. One that is on its way arrives now. */
type ArrivalsAround = (instant: number) => Promise<readonly number[]>

/**
 * Whether a wake has begun a session: its receiver starts a process, or a session, for each wake. Then it was told what waits, and a
 * digest would only begin the next one. Not so where a session that no wake had begun was there for that wake, and is gone: the
 * harness was started again, and is told. Source: D29.
 */
export async function isBegunByWake(
  session: Beginning,
  former: Beginning | undefined,
  arrivalsAround: ArrivalsAround,
): Promise<boolean> {
  const isSameProcess = former !== undefined && isSame(session, former)
  const bornAt = isSameProcess ? session.createdAt : bornAtOf(session)
  const wakeAt = beginnerOf(bornAt, await arrivalsAround(bornAt))
  if (wakeAt === undefined) return false
  if (!former || isSameProcess || !wasThere(former, wakeAt)) return true
  const formerBornAt = bornAtOf(former)
  // What came after it had started did not begin it: it may be the digest of its own start.
  const before = (await arrivalsAround(formerBornAt)).filter((at) => at < former.createdAt)
  return beginnerOf(formerBornAt, before) !== undefined
}

/** Returns when the newest wake arrived that may have begun what began at `bornAt`. */
function beginnerOf(bornAt: number, arrivals: readonly number[]): number | undefined {
  const near = arrivals.filter((at) => at - clockSlackMs <= bornAt && bornAt <= at + beginsWithinMs)
  return near.length === 0 ? undefined : Math.max(...near)
}

/** When its process began; the session itself where that is not known. */
function bornAtOf({ processStartedAt, createdAt }: Beginning): number {
  return processStartedAt ?? createdAt
}

function wasThere({ createdAt, endedAt }: Beginning, at: number): boolean {
  return createdAt <= at && (endedAt === null || endedAt >= at)
}

function isSame(a: Process, b: Process): boolean {
  return a.pid !== null && a.processStartedAt !== null && a.pid === b.pid && a.processStartedAt === b.processStartedAt
}
