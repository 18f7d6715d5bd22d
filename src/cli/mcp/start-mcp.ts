import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { pipeline } from 'node:stream'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { Command } from 'commander'
import { askStatus } from '../../bridge/local/ask-bridge.ts'
import { clientFetch } from '../../client/client-fetch.ts'
import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { readProfiles } from '../../client/profile-file.ts'
import { plain } from '../../client/terminal-text.ts'
import { harnessProcess } from '../../harnesses/harness-process.ts'
import { saidIn } from '../../harnesses/harnesses.ts'
import { sleep, systemClock } from '../../lib/clock.ts'
import { chooseAccess } from '../options/choose-access.ts'
import { gatewayCredentials, isLoopback } from '../options/gateway-key.ts'
import { commonOptions } from '../run/client-command.ts'
import { bridgeLogPath } from '../service/log-file.ts'
import { saveConnection } from './connections.ts'
import { liberalInput } from './liberal-input.ts'
import { serveMcp } from './serve-mcp.ts'

const upMaxMs = 15_000

const lookMs = 200

const stopMaxMs = 5_000

interface StartOptions {
  readonly channel?: true
  readonly serve?: true
  readonly bridge?: true
  readonly verbose?: true
}

/** Serves MCP on the standard streams of this process, until the client closes them or the process gets a signal to end. */
export async function startMcp(
  { channel, serve, bridge, verbose }: StartOptions,
  io: Io,
  command: Command,
): Promise<void> {
  const given = commonOptions(command)
  const access = chooseAccess(given, io.env, readProfiles(io))
  const warn = (text: string): void => io.stderr(`rouse mcp: ${plain(text)}\n`)
  const debug = verbose ? warn : () => undefined
  await using _gateway = serve ? await startOwnGateway(access.url, io, warn) : undefined
  if (bridge) void startOwnBridge(io, warn)
  const input = liberalInput((line) => void process.stdout.write(`${line}\n`))
  // However the client ends, the transport notices it.
  pipeline(process.stdin, input, () => {})
  await serveMcp({
    transport: new StdioServerTransport(input, process.stdout),
    url: access.url,
    project: access.project,
    // Read again with each try, so that a login or a new key takes effect without a restart.
    credentials: () => gatewayCredentials(given, io, chooseAccess(given, io.env, readProfiles(io))),
    fetch: io.fetch ?? clientFetch,
    env: io.env,
    process: harnessProcess(
      saidIn(io.env, 'pid').map(({ value }) => value),
      process.ppid,
    ),
    cwd: saidIn(io.env, 'directory')[0]?.value ?? process.cwd(),
    identity: access.profile?.identity,
    channel,
    onConnection: (surface, connection) => {
      if (!access.profile) return
      const at = new Date(systemClock.now()).toISOString()
      saveConnection(io.env, access.profile.name, surface, { ...connection, at })
    },
    signal: io.signal,
    warn,
    debug,
  }).finally(() => input.destroy())
}

/**
 * Starts `rouse bridge` in the background if this user runs none. It outlives this process: it serves every harness of its user. If several
 * start at once, one stays, because a bridge locks its journal. It prints to its log file.
 */
async function startOwnBridge(io: Pick<Io, 'env'>, warn: (text: string) => void): Promise<void> {
  if ((await askStatus(io.env)) !== undefined) return
  const argv = [...process.execArgv, process.argv[1]!, 'bridge', '--log-file', bridgeLogPath(io.env)]
  const child = spawn(process.execPath, argv, { env: io.env as NodeJS.ProcessEnv, detached: true, stdio: 'ignore' })
  child.once('error', ({ message }) => warn(`The bridge cannot be started: ${message}`))
  child.unref()
}

/**
 * Starts a gateway on the default data directory as a child of this process, where none answers at the address. Returns it;
 * undefined: one answers. It is stopped with this process. Errors: the address is of another machine.
 */
async function startOwnGateway(
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
