import { resolve } from 'node:path'
import type { Printer } from './printer.ts'
import { untilAborted } from './until-aborted.ts'

interface Started {
  readonly url: string
  readonly grpcTarget: string | undefined
  readonly adminKeyFile: string | undefined
  readonly warnings: readonly string[]
}

/** The part of the gateway that the command line sees. */
interface RunningGateway {
  start(): Promise<Started>
  stop(): Promise<void>
}

interface ServeConfig {
  readonly http: { readonly host: string; readonly port: number }
  readonly dataDir: string
}

/** Starts a gateway, prints its address, and stops it when the signal aborts. A graceful stop is a success. */
export async function serveGateway(
  create: () => RunningGateway | Promise<RunningGateway>,
  config: ServeConfig,
  { print, signal }: { print: Printer; signal?: AbortSignal },
): Promise<void> {
  const gateway = await create()
  const { url, grpcTarget, adminKeyFile, warnings } = await start(gateway, config)
  try {
    const dataDir = resolve(config.dataDir)
    const keyPlace = adminKeyFile ? `admin key in ${resolve(adminKeyFile)}` : 'admin key from ROUSE_ADMIN_KEY'
    const grpcPlace = grpcTarget === undefined ? 'gRPC is off' : `gRPC at ${grpcTarget}`
    print.item(
      { url, grpcTarget: grpcTarget ?? null, dataDir, adminKeyFile: adminKeyFile ?? null, warnings },
      () => `Rouse is up at ${url} · ${grpcPlace} · data in ${dataDir} · ${keyPlace}`,
    )
    if (!print.json) for (const warning of warnings) print.note(`Warning: ${warning}`)
    await untilAborted(signal)
    print.note('Stopping … (Ctrl-C again stops at once)')
  } finally {
    await gateway.stop()
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
  const port = error.port ?? http.port
  const [flag, variable] = port === http.port ? ['--port', 'ROUSE_PORT'] : ['--grpc-port', 'ROUSE_GRPC_PORT']
  const another = `another port: rouse serve ${flag} ${port + 10} (${variable}; 0 = any free one)`
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} is taken, perhaps by another gateway that runs already. Stop that one, or choose ${another}.`,
    EACCES: `This user may not listen on port ${port}. Choose ${another}.`,
    EADDRNOTAVAIL: `This machine has no address ${http.host}. Choose another one with --host.`,
    SQLITE_NOTADB: `${resolve(dataDir, 'rouse.db')} is no SQLite database. Move it away, or choose another directory with --data-dir.`,
  }
  const reason = reasons[error.code ?? '']
  return reason ? new Error(reason, { cause: error }) : error
}
