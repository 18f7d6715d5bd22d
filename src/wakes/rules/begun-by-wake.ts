import type { Process, Session } from '../../registry/sessions/session.ts'

/** The fields of a session that show how it began. */
export type Beginning = Process & Pick<Session, 'createdAt' | 'endedAt'>

/** A process that begins within this time after a wake of its agent was begun by that wake. */
export const beginsWithinMs = 60_000
/** The clocks of a harness and of its gateway may differ by this much. */
const clockSlackMs = 2_000

/** When the wakes of an agent's webhooks arrived around an instant, ms since the epoch. One that is on its way arrives now. */
type ArrivalsAround = (instant: number) => Promise<readonly number[]>

/**
 * True when a wake has begun a session, because its receiver starts a process, or a session, for each wake. Then a digest of what waits would
 * only begin the next session. False if the former session, which no wake had begun, was live when the wake arrived and has ended: then the
 * harness was restarted, and needs the digest. Source: D29.
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
  // A wake that came after the session had started did not begin it: it may be the digest of that start.
  const before = (await arrivalsAround(formerBornAt)).filter((at) => at < former.createdAt)
  return beginnerOf(formerBornAt, before) !== undefined
}

/** Returns when the newest wake arrived that may have begun what began at `bornAt`. */
function beginnerOf(bornAt: number, arrivals: readonly number[]): number | undefined {
  const near = arrivals.filter((at) => at - clockSlackMs <= bornAt && bornAt <= at + beginsWithinMs)
  return near.length === 0 ? undefined : Math.max(...near)
}

/** When the process of a session began; if that is not known, when the session began. */
function bornAtOf({ processStartedAt, createdAt }: Beginning): number {
  return processStartedAt ?? createdAt
}

function wasThere({ createdAt, endedAt }: Beginning, at: number): boolean {
  return createdAt <= at && (endedAt === null || endedAt >= at)
}

function isSame(a: Process, b: Process): boolean {
  return a.pid !== null && a.processStartedAt !== null && a.pid === b.pid && a.processStartedAt === b.processStartedAt
}
