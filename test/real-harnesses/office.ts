import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { cacheDirectory } from './programs.ts'

const rouse = resolve(import.meta.dirname, '../../dist/main.js')
const runMaxMs = 120_000

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  readonly ms: number
}

interface OfficeGateway extends AsyncDisposable {
  readonly url: string
  addAgent(handle: string): Promise<TestAgent>
}

/** A gateway with an agent, and a home directory with a profile for it, in which one harness is installed and run. */
export async function openOffice(): Promise<Office<TestGateway>>
export async function openOffice<G extends OfficeGateway>(start: () => Promise<G>): Promise<Office<G>>
export async function openOffice(start: () => Promise<OfficeGateway> = startGateway) {
  return openOfficeOf(await start())
}

type Office<G extends OfficeGateway> = Awaited<ReturnType<typeof openOfficeOf<G>>>

async function openOfficeOf<G extends OfficeGateway>(gateway: G) {
  mkdirSync(cacheDirectory, { recursive: true })
  const home = mkdtempSync(join(cacheDirectory, 'home-'))
  const at = (...names: string[]) => join(home, ...names)
  const agent = await gateway.addAgent('@donna')
  // No other process has this word on its command line.
  const profile = `donna-${randomBytes(6).toString('hex')}`
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    LANG: 'C.UTF-8',
    TMPDIR: at('tmp'),
    XDG_CONFIG_HOME: at('.config'),
    XDG_DATA_HOME: at('.local/share'),
    XDG_STATE_HOME: at('.local/state'),
    XDG_CACHE_HOME: at('.cache'),
  }
  const write = (name: string, text: string, mode = 0o644) => {
    mkdirSync(dirname(at(name)), { recursive: true })
    writeFileSync(at(name), text, { mode })
  }
  const donna = { url: gateway.url, key: agent.key, identity: '@donna' }
  write('.config/rouse/profiles.json', JSON.stringify({ profiles: { [profile]: donna } }), 0o600)
  for (const name of ['tmp', 'project']) mkdirSync(at(name), { recursive: true })
  makeRepository(at('project'))
  const runRouse = (...argv: string[]) => runToEnd(process.execPath, [rouse, ...argv], { cwd: at('project'), env })
  return {
    gateway,
    agent,
    profile,
    env,
    at,
    write,
    read: (name: string) => readFileSync(at(name), 'utf8'),
    /** Runs a program in the project, to its end. Its group is killed when it takes too long. */
    run: (path: string, argv: readonly string[]) => runToEnd(path, argv, { cwd: at('project'), env }),
    rouse: runRouse,
    /** The faults that `rouse doctor` finds. */
    broken: async (harness: string): Promise<string[]> => {
      const { profiles, harnesses } = JSON.parse((await runRouse('doctor', harness, '--json')).stdout)
      const checks: { name: string; state: string }[] = [...profiles, ...harnesses].flatMap((one) => one.checks)
      return checks.filter(({ state }) => state === 'broken').map(({ name }) => name)
    },
    async [Symbol.asyncDispose]() {
      try {
        await until(
          () => processesWith(profile),
          (left) => left.length === 0,
          10_000,
        )
      } finally {
        for (const { pid } of processesWith(profile)) process.kill(pid, 'SIGKILL')
        await gateway[Symbol.asyncDispose]()
        rmSync(home, { recursive: true, force: true })
      }
    },
  }
}

/** OpenCode wants a commit. */
function makeRepository(directory: string): void {
  const identity = ['-c', 'user.name=Donna', '-c', 'user.email=donna@example.com']
  for (const argv of [
    ['init', '-q'],
    [...identity, 'commit', '-q', '--allow-empty', '-m', 'begin'],
  ]) {
    execFileSync('git', argv, { cwd: directory })
  }
}

function runToEnd(path: string, argv: readonly string[], options: { cwd: string; env: Record<string, string> }) {
  const startedAt = performance.now()
  return new Promise<Ended>((done, fail) => {
    const child = spawn(path, argv, { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    const printed = { stdout: '', stderr: '' }
    child.stdout.on('data', (chunk) => (printed.stdout += chunk))
    child.stderr.on('data', (chunk) => (printed.stderr += chunk))
    const timer = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), runMaxMs)
    child.on('error', fail)
    child.on('close', (code) => {
      clearTimeout(timer)
      done({ code, ...printed, ms: Math.round(performance.now() - startedAt) })
    })
  })
}

/** The processes that have a word on their command line. Where the system has no /proc, none. */
function processesWith(word: string): { pid: number; command: string }[] {
  const pids = process.platform === 'linux' ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : []
  return pids.flatMap((name) => {
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')
      return command.includes(word) ? [{ pid: Number(name), command }] : []
    } catch {
      return []
    }
  })
}
