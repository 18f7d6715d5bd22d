import { join, resolve } from 'node:path'
import type { Printer } from '../../client/printer.ts'
import { untilAborted } from '../../lib/until-aborted.ts'
import { readVersion } from '../../lib/version.ts'
import type { Logger } from '../../logger/logger.ts'

interface StartResult {
  readonly url: string
  readonly grpcTarget: string | undefined
  readonly adminKeyFile: string | undefined
  readonly warnings: readonly string[]
}

/** The part of the gateway that the command line sees. */
interface RunningGateway {
  start(): Promise<StartResult>
  stop(): Promise<void>
}

interface ServeConfig {
  readonly http: { readonly host: string; readonly port: number }
  readonly dataDir: string
  readonly databaseUrl?: string | undefined
}

interface ServeTools {
  readonly print: Printer
  readonly log: Logger
  /** True when a person reads the output: then sentences say that it starts and stops, else lines of the log do. */
  readonly terminal: boolean
  readonly signal?: AbortSignal
  /** Called once, after the start. */
  readonly collect?: () => void
}

/**
 * Starts a gateway, says where it is, and stops it when the signal aborts. A graceful stop is a success. The gateway itself logs
 * its warnings.
 */
export async function serveGateway(
  create: () => RunningGateway | Promise<RunningGateway>,
  config: ServeConfig,
  tools: ServeTools,
): Promise<void> {
  const { log, terminal } = tools
  const startedAt = performance.now()
  const gateway = await create()
  const started = await start(gateway, config)
  tools.collect?.()
  try {
    sayStarted(started, config, tools)
    await untilAborted(tools.signal)
    if (terminal) tools.print.note('Stopping … (Ctrl-C again stops at once)')
    else log.info({}, 'gateway.stopping')
  } finally {
    await gateway.stop()
    if (!terminal) log.info({ upSeconds: Math.round((performance.now() - startedAt) / 1000) }, 'gateway.stopped')
  }
}

function sayStarted(started: StartResult, config: ServeConfig, { print, log, terminal }: ServeTools): void {
  const { url, warnings } = started
  const grpcTarget = started.grpcTarget ?? null
  const dataDir = resolve(config.dataDir)
  const adminKeyFile = started.adminKeyFile ?? null
  const keyPlace = adminKeyFile ? `admin key in ${resolve(adminKeyFile)}` : 'admin key from ROUSE_ADMIN_KEY'
  const grpcPlace = grpcTarget === null ? 'gRPC is off' : `gRPC at ${grpcTarget}`
  const sentence = () => `Rouse is up at ${url} · ${grpcPlace} · data in ${dataDir} · ${keyPlace}`
  if (terminal || print.json) print.item({ url, grpcTarget, dataDir, adminKeyFile, warnings }, sentence)
  if (!terminal) {
    const store = config.databaseUrl === undefined ? 'sqlite' : 'postgres'
    log.info({ version: readVersion(), url, grpcTarget, dataDir, adminKeyFile, store }, 'gateway.started')
  }
}

async function start(gateway: RunningGateway, config: ServeConfig) {
  try {
    return await gateway.start()
  } catch (error) {
    // Closes what was open before the failure. The first failure is the one to report.
    await gateway.stop().catch(() => {})
    throw explained(error as NodeJS.ErrnoException & { port?: number }, config)
  }
}

function explained(error: NodeJS.ErrnoException & { port?: number }, { http, dataDir }: ServeConfig): Error {
  const directory = resolve(dataDir)
  const port = error.port ?? http.port
  const [flag, variable] = port === http.port ? ['--port', 'ROUSE_PORT'] : ['--grpc-port', 'ROUSE_GRPC_PORT']
  // The port of gRPC is taken too where another gateway runs, and commands ask the address of ROUSE_URL.
  const next = http.port + 10
  const both = `rouse serve --port ${next} --grpc-port ${next + 1}; export ROUSE_URL=http://127.0.0.1:${next}`
  const one = `rouse serve ${flag} ${port + 10} (${variable}; 0 = any free one)`
  const another = `another port: ${port === http.port && port !== 0 ? both : one}`
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} is taken, perhaps by another gateway that runs already. Stop that one, or choose ${another}.`,
    // A file that may not be read has this code too.
    ...(error.syscall === 'listen' && { EACCES: `This user may not listen on port ${port}. Choose ${another}.` }),
    EADDRNOTAVAIL: `This machine has no address ${http.host}. Choose another one with --host.`,
    SQLITE_NOTADB: `${join(directory, 'rouse.db')} is no SQLite database. Move it away, or choose another directory with --data-dir.`,
  }
  const code = error.code ?? ''
  const isOfStore = code.startsWith('SQLITE_') || error.path?.startsWith(directory)
  const reason = reasons[code] ?? (isOfStore ? unwritable(code, error.message, directory) : undefined)
  return reason ? new Error(reason, { cause: error }) : error
}

/** undefined: something else is wrong. A new directory in a read-only one is ENOENT. */
function unwritable(code: string, reason: string, directory: string): string | undefined {
  const another = 'or choose another directory with --data-dir (ROUSE_DATA_DIR).'
  if (/^(SQLITE_FULL|ENOSPC|EDQUOT)$/.test(code)) return `There is no free space in ${directory}. Free some, ${another}`
  if (!/^(EACCES|EPERM|EROFS|ENOENT|SQLITE_(READONLY|CANTOPEN|PERM))/.test(code)) return undefined
  return `The gateway cannot write in ${directory} (${reason}). Make it writable for this user, ${another}`
}
