import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { listenersOfLsof } from './lsof.ts'
import type { Listener, Meant } from './meant.ts'
import { listenersOfProc } from './proc-net.ts'

const lsofMaxMs = 5_000

/**
 * The ports of processes of this user that are named `opencode`, or listen on the port that is meant. A process of somebody else is
 * never among them: it would get the password. None on Windows. Errors: none; what cannot be looked at is not there.
 */
export async function findListeners(meant: Meant): Promise<Listener[]> {
  if (process.platform === 'linux') return listenersOfProc('/proc', process.getuid!(), meant)
  if (process.platform === 'win32') return []
  const argv = ['-nP', '-a', '-u', String(process.getuid!()), '-iTCP', '-sTCP:LISTEN', '-F', 'pcn']
  const options = { timeout: lsofMaxMs, env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } }
  const { stdout } = await promisify(execFile)('lsof', argv, options).catch(() => ({ stdout: '' }))
  return listenersOfLsof(stdout, meant)
}
