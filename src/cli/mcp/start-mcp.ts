import { spawn } from 'node:child_process'
import { pipeline } from 'node:stream'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { Command } from 'commander'
import { askStatus } from '../../bridge/local/ask-status.ts'
import { clientFetch } from '../../client/client-fetch.ts'
import type { Io } from '../../client/io.ts'
import { readProfiles } from '../../client/profile-file.ts'
import { plain } from '../../client/terminal-text.ts'
import { harnessProcess } from '../../harnesses/harness-process.ts'
import { saidIn } from '../../harnesses/harnesses.ts'
import { systemClock } from '../../lib/clock.ts'
import { chooseAccess } from '../options/choose-access.ts'
import { gatewayCredentials } from '../options/gateway-key.ts'
import { commonOptions } from '../run/client-command.ts'
import { bridgeLogPath } from '../service/log-file.ts'
import { saveConnection } from './connections.ts'
import { liberalInput } from './liberal-input.ts'
import { startOwnGateway } from './own-gateway.ts'
import { serveMcp } from './serve-mcp.ts'

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
  // However the client ends, the transport hears of it.
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
