import { BridgeAttachment } from '../../../../bridge/local/attach-to-bridge.ts'
import { sleep, systemClock } from '../../../../lib/clock.ts'
import type { AttachedProgram } from '../../../harness.ts'
import { conversationNow, isAlive, ownSession } from './own-session.ts'

const lookEveryMs = 2_000

/**
 * A monitor of our plugin: prints one line for each wake, which Claude Code gives to the model. Resolves when its session has ended, when
 * nobody reads it any more, or when the signal aborts; outside a session at once.
 */
export async function runMonitor({ env, cwd, print, signal }: AttachedProgram): Promise<void> {
  const session = ownSession(env)
  if (session === undefined) return
  const ending = new AbortController()
  const end = () => ending.abort()
  signal.addEventListener('abort', end, { once: true })
  const conversation = () => conversationNow(session, env) ?? env.CLAUDE_CODE_SESSION_ID ?? `process-${session.pid}`
  const attachment = new BridgeAttachment({
    env,
    client: { harness: 'claude', conversationId: conversation(), cwd, process: session, route: 'monitor' },
    take: async ({ text }) => {
      await print(`${text}\n`).catch((error: unknown) => {
        end()
        throw error
      })
    },
    signal: ending.signal,
  })
  let reported = conversation()
  while (!ending.signal.aborted && !signal.aborted) {
    await sleep(systemClock, lookEveryMs, ending.signal)
    if (!isAlive(session)) break
    const now = conversation()
    if (now !== reported) attachment.change({ conversationId: now })
    reported = now
  }
  end()
  signal.removeEventListener('abort', end)
  await attachment.ended
}
