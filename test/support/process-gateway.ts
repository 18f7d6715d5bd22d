import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { atFileEnd } from './ends.ts'
import { connectClient, type ProcessClient } from './process-client.ts'
import { rouseWords } from './program/rouse-words.ts'
import { storeEnv } from './store.ts'
import { until } from './until.ts'

interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** A `rouse` command line as a real process. */
export interface RouseProcess extends AsyncDisposable {
  readonly pid: number
  readonly exited: Promise<Exit>
  /** The text that it has printed so far. */
  output(): { stdout: string; stderr: string }
  kill(signal: NodeJS.Signals): void
}

/** A gateway in a process of its own, with a data directory and a port that outlive it. */
export interface ProcessGateway extends AsyncDisposable, ProcessClient {
  readonly dataDir: string
  readonly port: number
  /** Where the process that runs now listens for gRPC, as it prints it. */
  readonly grpcTarget: string
  /** Of the process that runs now. */
  readonly pid: number
  /** Sends the signal, without waiting: safe to call from within a receiver's handler. */
  signal(signal: NodeJS.Signals): void
  /** Sends the signal and resolves when the process is gone. */
  kill(signal: NodeJS.Signals): Promise<Exit>
  readonly exited: Promise<Exit>
  /**
   * Starts another process on the same directory and port, once the last one is gone. It can be killed while it starts;
   * then this rejects.
   */
  restart(): Promise<void>
}

const root = fileURLToPath(new URL('../..', import.meta.url))
// Processes start slowly where many tests run side by side.
const startMaxMs = 30_000

const running = new Set<RouseProcess>()
// A worker that ends must not leave its gateways behind.
process.on('exit', killAll)

function killAll(): void {
  for (const child of running) child.kill('SIGKILL')
}

/**
 * Runs `rouse <argv>`.
 * @param words what `node` is started with
 * @param user the uid and gid to run as, which only root can choose
 */
export function runRouse(
  argv: readonly string[],
  env: Record<string, string> = {},
  words: readonly string[] = rouseWords(),
  user?: number,
): RouseProcess {
  const child = spawn(process.execPath, [...words, ...argv], {
    cwd: root,
    env: { ...cleanEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(user !== undefined && { uid: user, gid: user }),
  })
  const printed = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text) => (printed.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (printed.stderr += text))
  const exited = once(child, 'close').then(([code, signal]): Exit => {
    running.delete(rouse)
    return { code, signal, ...printed }
  })
  const rouse: RouseProcess = {
    pid: child.pid ?? 0,
    exited,
    output: () => ({ ...printed }),
    kill: (signal) => void child.kill(signal),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      withoutFault(await exited)
    },
  }
  running.add(rouse)
  // A test that timed out has not come to its end.
  atFileEnd(() => rouse.kill('SIGKILL'))
  return rouse
}

/** No test may cost a process a fault that nothing caught, whatever else it expects. */
function withoutFault(exit: Exit): Exit {
  const line = exit.stderr.split('\n').find((one) => one.includes('"process.failed"'))
  if (line !== undefined) throw new Error(`The process ended with a fault that nothing caught: ${line}`)
  return exit
}

/** `rouse serve` on a free port, resolved when it says that it is up. A directory that is given is the caller's to remove. */
export async function startProcessGateway(
  env: Record<string, string> = {},
  options: { dataDir?: string; words?: readonly string[]; user?: number } = {},
): Promise<ProcessGateway> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'rouse-process-'))
  const store = await storeEnv(dataDir, env)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  let current = serve()
  await untilUp(current)
  const adminKey = env.ROUSE_ADMIN_KEY ?? readFileSync(join(dataDir, 'admin.key'), 'utf8').trim()

  function serve(): RouseProcess {
    const argv = ['serve', '--json', '--port', String(port), '--grpc-port', '0', '--data-dir', dataDir]
    // Agents of these tests send as fast as they can.
    const lifted = { ROUSE_MESSAGES_PER_MINUTE: '0', ROUSE_STORM_MESSAGES: '0' }
    return runRouse(argv, { ...lifted, ...store, ...env }, options.words, options.user)
  }

  return {
    ...connectClient(url, adminKey),
    dataDir,
    port,
    get grpcTarget() {
      return JSON.parse(current.output().stdout).grpcTarget
    },
    get pid() {
      return current.pid
    },
    get exited() {
      return current.exited
    },
    signal: (signal) => current.kill(signal),
    kill(signal) {
      current.kill(signal)
      return current.exited.then(withoutFault)
    },
    async restart() {
      withoutFault(await current.exited)
      current = serve()
      await untilUp(current)
    },
    async [Symbol.asyncDispose]() {
      await current[Symbol.asyncDispose]()
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** Resolves when the gateway says that it is up; rejects with what it printed when it ends before that. */
async function untilUp(gateway: RouseProcess): Promise<void> {
  let exit: Exit | undefined
  void gateway.exited.then((ended) => (exit = ended))
  await until(gateway.output, ({ stdout }) => exit !== undefined || stdout.includes('"url"'), startMaxMs)
  if (exit) throw new Error(`The gateway ended before it was up: ${JSON.stringify(exit)}`)
}

/** Below the range that the system hands out, so that nobody takes it between two processes. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000)
    const server = createServer()
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!free) continue
    await new Promise((resolve) => server.close(resolve))
    return port
  }
}

function cleanEnvironment(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(ROUSE_|VITEST|NODE_OPTIONS)/.test(name)))
}
