import { BridgeAttachment } from '../../../../bridge/local/attach-to-bridge.ts'
import { sleep, systemClock } from '../../../../lib/clock.ts'
import { conversationOf } from '../../../conversation.ts'
import type { WaitingProgram } from '../../../harness.ts'
import { conversationNow, isAlive, ownSession } from './own-session.ts'
import { waitSeconds } from './rewake-seconds.ts'
import { takeLock } from './waiter-lock.ts'

interface Waiter extends WaitingProgram {
  /** ms */
  readonly waitMs?: number
}

const lookEveryMs = 1_000

/**
 * A hook with `asyncRewake` that waits for one wake of its conversation. Resolves with true when it has shown one: its process then exits
 * with 2, which starts a turn. Resolves with false before its time-out, when its session has ended or has another conversation, and when
 * a newer hook waits; at once for a session without a user at a terminal.
 */
export async function waitForWake({
  env,
  event,
  input,
  signal,
  show,
  waitMs = waitSeconds * 1_000,
}: Waiter): Promise<boolean> {
  const session = ownSession(env)
  const { sessionId, cwd } = conversationOf(input).harness ?? {}
  // On Windows Claude Code waits for a hook of the start before it shows anything.
  if (session === undefined || sessionId === undefined || (event === 'SessionStart' && process.platform === 'win32'))
    return false
  const lock = takeLock(env, session.pid)
  if (lock === undefined) return false
  const ending = new AbortController()
  const end = () => ending.abort()
  signal.addEventListener('abort', end, { once: true })
  const until = Date.now() + waitMs
  let isShown = false
  const isCurrent = () => lock.isOurs() && [undefined, sessionId].includes(conversationNow(session, env))
  const attachment = new BridgeAttachment({
    env,
    client: {
      harness: 'claude',
      conversationId: sessionId,
      process: session,
      route: 'rewake',
      until: new Date(until).toISOString(),
      ...(cwd === undefined ? {} : { cwd }),
    },
    take: (wake) => {
      if (isShown || !isCurrent()) throw new Error('it does not wait any more')
      show(wake)
      isShown = true
    },
    onTaken: end,
    signal: ending.signal,
  })
  while (!ending.signal.aborted && !signal.aborted && Date.now() < until && isCurrent() && isAlive(session)) {
    await sleep(systemClock, Math.min(lookEveryMs, Math.max(0, until - Date.now())), ending.signal)
  }
  end()
  signal.removeEventListener('abort', end)
  await attachment.ended
  lock.release()
  return isShown
}
