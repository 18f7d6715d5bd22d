import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { localAddress, makePrivate, thisMachine } from '../../../../bridge/local/address.ts'
import type { Io } from '../../../../client/io.ts'
import { isAlive } from './own-session.ts'

/** The right of one waiting hook to be the one of its session. */
interface WaiterLock {
  /** Whether no newer one has come. */
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
