import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { listenersOfLsof } from './lsof.ts'
import type { Listener, Meant } from './meant.ts'
import { listenersOfProc } from './proc-net.ts'

const lsofMaxMs = 5_000

/**
 * Returns the ports of this user's processes that are named `opencode` or listen on the configured port. Never a process of another user,
 * because it would get the password. Empty on Windows. Never rejects: processes that cannot be read are left out.
 */
export async function findListeners(meant: Meant): Promise<Listener[]> {
  if (process.platform === 'linux') return listenersOfProc('/proc', process.getuid!(), meant)
  if (process.platform === 'win32') return []
  const argv = ['-nP', '-a', '-u', String(process.getuid!()), '-iTCP', '-sTCP:LISTEN', '-F', 'pcn']
  const options = { timeout: lsofMaxMs, env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } }
  const { stdout } = await promisify(execFile)('lsof', argv, options).catch(() => ({ stdout: '' }))
  return listenersOfLsof(stdout, meant)
}
