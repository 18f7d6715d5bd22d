import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { localAddress, makePrivate, thisMachine } from '../../../../bridge/local/address.ts'
import { BridgeAttachment } from '../../../../bridge/local/attach-to-bridge.ts'
import type { Io } from '../../../../client/io.ts'
import { sleep, systemClock } from '../../../../lib/clock.ts'
import { conversationOf } from '../../../conversation.ts'
import type { WaitingProgram } from '../../../harness.ts'
import { conversationNow, isAlive, ownSession } from './own-session.ts'
import { waitSeconds } from './rewake-seconds.ts'

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

/** The right of one waiting hook to be the one of its session. */
interface WaiterLock {
  /** True when no newer one has come. */
  isOurs(): boolean
  release(): void
}

/**
 * Makes this process the one that waits for a session: Claude Code starts another at each event, and ends none. The newest is right: it
 * has the most time, and after `/clear` the conversation of now. undefined: there is no place for the note.
 */
export function takeLock(env: Io['env'], pid: number): WaiterLock | undefined {
  const machine = thisMachine()
  const directory = localAddress(env, machine)?.directory ?? env.TEMP
  if (directory === undefined) return undefined
  const path = join(directory, `claude-${pid}.waits`)
  const name = randomBytes(8).toString('hex')
  try {
    if (machine.platform !== 'win32') makePrivate(directory, machine)
    writeFileSync(`${path}.${name}`, name, { mode: 0o600 })
    renameSync(`${path}.${name}`, path)
    removeNotesOfEnded(directory)
  } catch {
    return undefined
  }
  const isOurs = () => {
    try {
      return readFileSync(path, 'utf8') === name
    } catch {
      return false
    }
  }
  return {
    isOurs,
    release: () => {
      if (isOurs()) rmSync(path, { force: true })
    },
  }
}

/** A hook that was killed leaves its note. */
function removeNotesOfEnded(directory: string): void {
  for (const name of readdirSync(directory)) {
    const pid = /^claude-(\d{1,10})\.waits(?:\.[0-9a-f]{16})?$/.exec(name)?.[1]
    if (pid !== undefined && !isAlive({ pid: Number(pid) })) rmSync(join(directory, name), { force: true })
  }
}
