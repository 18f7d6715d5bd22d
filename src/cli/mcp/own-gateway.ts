import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { clientFetch } from '../../client/client-fetch.ts'
import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { sleep, systemClock } from '../../lib/clock.ts'
import { isLoopback } from '../options/gateway-key.ts'

const upMaxMs = 15_000
const lookMs = 200
const stopMaxMs = 5_000

/**
 * Starts a gateway on the default data directory as a child of this process, where none answers at the address. Returns it;
 * undefined: one answers. It is stopped with this process. Errors: the address is of another machine.
 */
export async function startOwnGateway(
  url: string,
  io: Io,
  warn: (text: string) => void,
): Promise<AsyncDisposable | undefined> {
  if (await answers(url, io)) return undefined
  const { hostname, port, protocol } = new URL(url)
  if (!isLoopback(hostname) || protocol !== 'http:') {
    throw new UsageError(`--serve starts a gateway on this machine, and ${url} is another one. Leave it out.`)
  }
  const argv = [
    process.argv[1]!,
    'serve',
    '--host',
    hostname.replace(/^\[|\]$/g, ''),
    '--port',
    port || '80',
    '--grpc-port',
    'off',
  ]
  // Standard output is the protocol of MCP.
  const child = spawn(process.execPath, [...process.execArgv, ...argv, '--log-level', 'warn'], {
    env: io.env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  for (let waitedMs = 0; waitedMs < upMaxMs && child.exitCode === null; waitedMs += lookMs) {
    await sleep(systemClock, lookMs, io.signal)
    if (io.signal?.aborted || (await answers(url, io))) break
  }
  // Two harnesses that start at once: one of the gateways gets the port, and serves both.
  if (child.exitCode !== null) warn('The gateway did not start; another one may have been first.')
  return { [Symbol.asyncDispose]: () => stop(child) }
}

async function answers(url: string, io: Io): Promise<boolean> {
  const init = { method: 'GET', headers: {}, signal: AbortSignal.timeout(1_000) }
  try {
    return (await (io.fetch ?? clientFetch)(`${url}/readyz`, init)).status > 0
  } catch {
    return false
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const forced = setTimeout(() => child.kill('SIGKILL'), stopMaxMs)
  await exited
  clearTimeout(forced)
}
