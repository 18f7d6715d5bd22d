import { spawn } from 'node:child_process'
import { askStatus } from '../../bridge/local/ask-status.ts'
import type { Io } from '../../client/io.ts'
import { bridgeLogPath } from '../service/log-file.ts'

/**
 * Starts `rouse bridge` in the background if this user runs none. It outlives this process: it serves every harness of its user. If several
 * start at once, one stays, because a bridge locks its journal. It prints to its log file.
 */
export async function startOwnBridge(io: Pick<Io, 'env'>, warn: (text: string) => void): Promise<void> {
  if ((await askStatus(io.env)) !== undefined) return
  const argv = [...process.execArgv, process.argv[1]!, 'bridge', '--log-file', bridgeLogPath(io.env)]
  const child = spawn(process.execPath, argv, { env: io.env as NodeJS.ProcessEnv, detached: true, stdio: 'ignore' })
  child.once('error', ({ message }) => warn(`The bridge cannot be started: ${message}`))
  child.unref()
}
