import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { isMeant, type Listener, loopbackOf, type ProcessChoice } from './meant.ts'
import { listenersOfProc } from './proc-net.ts'

const lsofMaxMs = 5_000

/**
 * Returns the ports of this user's processes that are named `opencode` or listen on the configured port. Never a process of another user,
 * because it would get the password. Empty on Windows. Never rejects: processes that cannot be read are left out.
 */
export async function findListeners(meant: ProcessChoice): Promise<Listener[]> {
  if (process.platform === 'linux') return listenersOfProc('/proc', process.getuid!(), meant)
  if (process.platform === 'win32') return []
  const argv = ['-nP', '-a', '-u', String(process.getuid!()), '-iTCP', '-sTCP:LISTEN', '-F', 'pcn']
  const options = { timeout: lsofMaxMs, env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } }
  const { stdout } = await promisify(execFile)('lsof', argv, options).catch(() => ({ stdout: '' }))
  return listenersOfLsof(stdout, meant)
}

/** Reads the output of `lsof -F pcn`: lines with the letter of a field first; `p` begins a process. Pure. */
export function listenersOfLsof(text: string, meant: ProcessChoice): Listener[] {
  const found: Listener[] = []
  let pid = 0
  let name = ''
  for (const line of text.split('\n')) {
    const value = line.slice(1)
    if (line.startsWith('p')) pid = Number(value)
    if (line.startsWith('c')) name = value
    if (!line.startsWith('n')) continue
    const at = value.lastIndexOf(':')
    const host = loopbackOf(value.slice(0, at))
    const port = Number(value.slice(at + 1))
    if (pid > 0 && port > 0 && host !== undefined && isMeant(name, port, meant)) found.push({ pid, port, host })
  }
  return found
}
