import type { WakeEnd, WakeTools } from '../../../../bridge/adapter.ts'
import type { HookTurn } from './hook-turn.ts'
import { anyOf } from './pause.ts'
import type { WakePlace } from './seen.ts'
import { lost, takenBack, type Verdict, verdictOf, type WakeTimes } from './verdict.ts'
import type { Way } from './way.ts'

/** A wake that was handed over. Instants of `performance.now()`. */
export interface HandedWake {
  readonly handedAt: number
  /** True when it was put into a turn that ran. */
  readonly isSteered: boolean
  /** The step that was last reported to the gateway. */
  lastReported: string
  /** How many looks have shown where it is. */
  looks: number
  readonly hook: HookTurn
  readonly tools: WakeTools
  readonly times: WakeTimes
}

const lastLooks = { count: 10, everyMs: 200 } as const

/**
 * Waits until a wake has begun a turn, or until nothing more can be known. When the signal aborts, it takes the wake back, so that it does
 * not begin a turn days later. `closed`: no process has the thread open, and the wake is still in its queue. Errors: those of the way.
 */
export async function follow(way: Way, handed: HandedWake): Promise<WakeEnd | 'closed'> {
  const { tools, times, hook, handedAt } = handed
  const wakeUp = AbortSignal.any([tools.signal, hook.signal])
  let idleSince: number | undefined
  let nowhereSince: number | undefined
  for (;;) {
    if (hook.turnId !== undefined) return began(handed, hook.turnId, 'its hook UserPromptSubmit has run')
    const seen = await way.look()
    handed.looks++
    const now = performance.now()
    const isQueued = seen.queuedId !== undefined
    idleSince = isQueued && seen.state === 'idle' ? (idleSince ?? now) : undefined
    nowhereSince = isQueued ? undefined : (nowhereSince ?? now)
    const since = (at: number | undefined) => (at === undefined ? 0 : now - at)
    const elapsed = { sinceMs: now - handedAt, idleMs: since(idleSince), nowhereMs: since(nowhereSince) }
    const verdict = verdictOf(seen, elapsed, times)
    if (verdict === 'began') return began(handed, seen.turnId!, 'the turn has it as a message of its user')
    if (verdict === 'gone') return lost
    if (verdict === 'closed') return 'closed'
    if (verdict !== 'wait') tell(handed, verdict)
    if (tools.signal.aborted) return takeBack(way, handed, seen)
    const intervalMs = way.intervalMs(elapsed.sinceMs)
    await way.changed(isQueued ? intervalMs : Math.min(intervalMs, times.nearMs), wakeUp)
  }
}

/** Removes a wake from the queue. If it has just left the queue, it has begun a turn, or is lost. */
export async function takeBack(way: Way, handed: HandedWake, { queuedId }: WakePlace): Promise<WakeEnd> {
  if (queuedId !== undefined && (await way.takeBack(queuedId))) return takenBack
  for (let look = 0; look < lastLooks.count; look++) {
    const { turnId } = await way.look()
    if (turnId !== undefined) return began(handed, turnId, 'the turn has it as a message of its user')
    await anyOf(handed.hook.signal, [], lastLooks.everyMs)
  }
  return lost
}

function tell(handed: HandedWake, { held, reason }: Extract<Verdict, object>): void {
  if (handed.lastReported !== held) handed.tools.report('held', held, reason)
  handed.lastReported = held
}

function began({ isSteered }: HandedWake, turnId: string, proof: string): WakeEnd {
  if (isSteered) return { step: 'delivered', detail: `it is in the turn ${turnId}, which ran: ${proof}` }
  return { step: 'turn_started', detail: `turn ${turnId} of Codex: ${proof}` }
}
