import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
const neededBytes = 2e9

/**
 * Gives the run a directory for everything that its tests write, which goes when it ends. It is in memory where the system has
 * the room: a store makes its commits durable, and thousands of stores do little else.
 */
export default function setup(): void {
  if (process.env.ROUSE_TEST_SCRATCH) return
  const scratch = mkdtempSync(join(hasRoom() ? memory : tmpdir(), 'rouse-tests-'))
  // A PostgreSQL server that root starts runs as somebody else.
  chmodSync(scratch, 0o755)
  process.env.ROUSE_TEST_SCRATCH = scratch
  process.env.TMPDIR = scratch
  // After everybody's teardown: a server may have its data there.
  process.once('exit', () => rmSync(scratch, { recursive: true, force: true }))
}

function hasRoom(): boolean {
  if (!existsSync(memory)) return false
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize >= neededBytes
}
