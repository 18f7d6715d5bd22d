import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { HarnessSession, OutgoingWake, WakeEnd } from '../../../src/bridge/adapter.ts'
import type { LocalServer } from '../../../src/bridge/local/clients.ts'
import { startLocalServer } from '../../../src/bridge/local/server.ts'
import { ClaudeAdapter } from '../../../src/harnesses/claude/adapter/claude-adapter.ts'
import { noProof } from '../../bridge/local/no-proof.ts'
import { makeHome } from '../../cli/install/homes.ts'
import { rouseWords } from '../../support/program/rouse-words.ts'
import { until } from '../../support/until.ts'

const root = resolve(import.meta.dirname, '../../..')
const main = join(root, 'src/main.ts')

interface Said {
  readonly is: string
  readonly [name: string]: unknown
}

/** A home directory in which Claude Code is installed, with sessions and bridges. `install`: the options of `rouse install claude`. */
export async function openDesk(...install: string[]) {
  const home = makeHome()
  const config = home.at('.claude')
  const project = home.at('project')
  for (const directory of [project, home.at('sockets')]) mkdirSync(directory, { recursive: true })
  const installed = await home.rouse('install', 'claude', ...install)
  if (installed.code !== 0) throw new Error(installed.stderr)
  const servers: LocalServer[] = []
  const sessions: { close(): Promise<void> }[] = []
  return {
    home,
    config,
    project,
    open: async (options: SessionOptions = {}) => {
      const session = await openSession({ config, project, sockets: home.at('sockets'), env: home.env }, options)
      sessions.push(session)
      return session
    },
    startBridge: async () => {
      const server = await startLocalServer({ env: home.env, status: async () => ({}), prove: noProof, note: () => {} })
      servers.push(server)
      return server
    },
    adapterOf: (clients: LocalServer, settings = {}, turnMs = 30_000) => {
      const context = { env: home.env, directories: [project], clients, now: Date.now, note: () => {} }
      return new ClaudeAdapter({ ...context, settings: { configDirs: [config], ...settings } }, { turnMs })
    },
    async [Symbol.asyncDispose]() {
      for (const session of sessions) await session.close()
      for (const server of servers) await server[Symbol.asyncDispose]()
      home[Symbol.dispose]()
    },
  }
}

interface SessionOptions {
  readonly mode?: string
  readonly version?: string
  readonly isHeadless?: boolean
  /** Its transcript is not written before the act `write`. */
  readonly isLate?: boolean
}

interface Place {
  readonly config: string
  readonly project: string
  readonly sockets: string
  readonly env: Record<string, string>
}

async function openSession(
  place: Place,
  { mode = 'default', version = '2.1.330', isHeadless, isLate }: SessionOptions,
) {
  const fake = { main, program: rouseWords().join(' '), mode, version, isLate }
  const child = fork(join(import.meta.dirname, 'fake-claude.mjs'), {
    cwd: place.project,
    env: {
      ...place.env,
      PATH: process.env.PATH,
      CLAUDE_CONFIG_DIR: place.config,
      FAKE_SOCKETS: place.sockets,
      FAKE_CLAUDE: JSON.stringify(fake),
      ...(isHeadless ? { FAKE_HEADLESS: '1' } : {}),
    },
    execArgv: [],
  })
  const said: Said[] = []
  child.on('message', (event: Said) => said.push(event))
  const closed = once(child, 'exit')
  const all = (is: string) => said.filter((event) => event.is === is)
  const heard = async (is: string, count = 1): Promise<Said> =>
    (
      await until(
        () => all(is),
        (events) => events.length >= count,
      )
    ).at(-1)!
  const act = async (name: string, more: object = {}) => {
    const before = all('done').length
    child.send({ act: name, ...more })
    await heard('done', before + 1)
  }
  await heard('open')
  return {
    pid: child.pid!,
    all,
    heard,
    act,
    state: async () => {
      const before = all('state').length
      await act('state')
      return heard('state', before + 1)
    },
    exit: async () => {
      child.send({ act: 'exit' })
      await closed
    },
    kill: async () => {
      child.kill('SIGKILL')
      await closed
    },
    close: async () => {
      if (child.connected) child.disconnect()
      await closed
    },
  }
}

/** The session that an adapter finds, once it is as wanted. */
export async function found(adapter: ClaudeAdapter, isWanted: (session: HarnessSession) => boolean = () => true) {
  const { sessions } = await until(
    () => adapter.probe(),
    (probe) => probe.sessions.some(isWanted),
  )
  return sessions.find(isWanted)!
}

/** Makes an attempt. Returns the steps that it reported on its way, and its end. */
export async function attempt(
  adapter: ClaudeAdapter,
  session: HarnessSession,
  wake: OutgoingWake,
  handingOver: () => Promise<void> = async () => {},
) {
  const steps: string[] = []
  const end: WakeEnd = await adapter.wake(session, wake, {
    handingOver: async (route) => {
      steps.push(`handing over by ${route}`)
      await handingOver()
    },
    report: (step) => void steps.push(step),
    signal: AbortSignal.timeout(60_000),
  })
  return { steps, end }
}
