import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AdapterContext, HarnessSession, OutgoingWake } from '../../src/bridge/adapter.ts'
import { CodexAdapter, codexRow as row } from '../../src/harnesses/codex/adapter/codex-adapter.ts'
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts'
import { untilAborted } from '../../src/lib/until-aborted.ts'
import { until } from '../support/until.ts'
import { codexConfig } from './codex-config.ts'
import { startFakeModel } from './fake-model.ts'
import { cacheDirectory } from './programs.ts'
import { Terminal } from './terminal.ts'

/** The lines that Codex shows when it waits for its user, in 0.169. */
export const screens = { ready: 'Ask Codex to do anything', approval: 'Would you like to run' } as const

/** A home of the real Codex, with a model whose prompts steer it: `HOLD` waits for `release`, `ASK` wants a command approved. */
export async function openDesk(codex: string, settings: Record<string, unknown> = {}) {
  mkdirSync(cacheDirectory, { recursive: true })
  const directory = mkdtempSync(join(cacheDirectory, 'desk-'))
  // The bridge of the tests has its conversations in `app`.
  const [home, project, tmp] = ['home', 'app', 'tmp'].map((name) => join(directory, name)) as [string, string, string]
  for (const path of [home, project, tmp]) mkdirSync(path)
  let release: () => void = () => {}
  let released = new Promise<void>((resolve) => (release = resolve))
  const model = await startFakeModel(async ({ body }) => {
    const { text, hasResult } = lastPrompt(body)
    if (text.includes('HOLD')) await released
    if (text.includes('ASK') && !hasResult) return approvalWanted
    return { text: 'ok' }
  })
  writeFileSync(join(home, 'config.toml'), codexConfig(model.url, project, 'on-request'))
  const env = { PATH: process.env.PATH ?? '', HOME: directory, CODEX_HOME: home, TMPDIR: tmp, RUST_LOG: 'error' }
  const socket = join(directory, 'codex.sock')
  const servers: ChildProcess[] = []
  const terminals: Terminal[] = []
  const notes: string[] = []
  const own = { env, settings: { program: codex, sockets: [socket], ...settings } }
  const adapter = new CodexAdapter({
    ...own,
    directories: [project],
    now: Date.now,
    note: (text) => notes.push(text),
    clients: {
      attached: () => [],
      reportedConversations: () => [],
      onChange: () => () => {},
      reported: async (_id, _isEnough, signal) => {
        await untilAborted(signal)
        return undefined
      },
    },
  })
  const never = new AbortController().signal
  /** In how many turns the model got a text. */
  const turnsWith = (text: string) =>
    model.requests.filter(({ body }) => {
      const last = lastPrompt(body)
      return last.text.includes(text) && !last.hasResult
    }).length
  const sessions = async () => (await adapter.probe(never)).sessions
  return {
    directory,
    adapter,
    /** The same adapter for a bridge. */
    row: { ...row, create: (context: AdapterContext) => row.create({ ...context, ...own }) },
    notes,
    socket,
    project,
    sessions,
    /** Starts a server that listens. */
    async listen(): Promise<ChildProcess> {
      const server = spawn(codex, ['app-server', '--listen', `unix://${socket}`], {
        env,
        cwd: project,
        stdio: 'ignore',
      })
      servers.push(server)
      await until(() => existsSync(socket), Boolean, 10_000)
      return server
    },
    /** Opens Codex in a terminal, ready for a prompt. */
    async openTerminal(...argv: string[]): Promise<Terminal> {
      const terminal = new Terminal([codex, ...argv], project, env)
      terminals.push(terminal)
      await terminal.shows(screens.ready)
      return terminal
    },
    /** Resolves with the only conversation that can be reached, when it is one. */
    async onlySession(isIt: (session: HarnessSession) => boolean = () => true): Promise<HarnessSession> {
      const found = await until(
        async () => (await sessions()).filter((session) => session.route !== undefined && isIt(session)),
        ({ length }) => length === 1,
      )
      return found[0]!
    },
    stateOf: async (id: string) => (await sessions()).find(({ conversationId }) => conversationId === id)?.state,
    /** Lets the model go on. */
    release(): void {
      release()
      released = new Promise((resolve) => (release = resolve))
    },
    turnsWith,
    /** Resolves once a text has begun a turn, with the number of such turns. The model is prompted shortly after the beginning of a turn. */
    turnsOnceWith: (text: string) => until(() => turnsWith(text), Boolean),
    async [Symbol.asyncDispose]() {
      release()
      await adapter[Symbol.asyncDispose]()
      await Promise.all(terminals.map((terminal) => terminal[Symbol.asyncDispose]()))
      for (const server of servers) server.kill('SIGTERM')
      try {
        await until(
          () => processesOf(directory),
          ({ length }) => length === 0,
          10_000,
        )
      } finally {
        for (const pid of processesOf(directory)) process.kill(pid, 'SIGKILL')
        await model[Symbol.asyncDispose]()
        rmSync(directory, { recursive: true, force: true })
      }
    },
  }
}

let last = 0

/** Hands a wake to a conversation. `word`: what steers the model. */
export function handOver(adapter: CodexAdapter, session: HarnessSession, word = '') {
  last += 1
  const id = `01J0000000000000000000${String(last).padStart(4, '0')}`
  const wake: OutgoingWake = { id, text: `[Rouse ${id}] New message. ${word}`, lines: '' }
  const steps: string[] = []
  const stopping = new AbortController()
  const startedAt = performance.now()
  const ended = adapter
    .wake(session, wake, {
      handingOver: async () => {},
      report: (step, detail) => steps.push(`${step}: ${detail}`),
      signal: stopping.signal,
    })
    .then((end) => ({ ...end, ms: Math.round(performance.now() - startedAt) }))
  return { id, steps, ended, stop: () => stopping.abort() }
}

const approvalWanted = {
  tool: 'exec_command',
  input: { cmd: 'true', sandbox_permissions: 'require_escalated', justification: 'test' },
}

/** The last text of the user, and whether the model has called a tool since. */
function lastPrompt({ input }: JsonObject): { text: string; hasResult: boolean } {
  const items = Array.isArray(input) ? input.filter(isJsonObject) : []
  const index = items.findLastIndex(({ role }) => role === 'user')
  const hasResult = items.slice(index + 1).some(({ type }) => String(type).endsWith('_output'))
  return { text: JSON.stringify(items[index]?.content ?? ''), hasResult }
}

/** The processes whose environment has a directory. */
function processesOf(directory: string): number[] {
  const pids = process.platform === 'linux' ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : []
  return pids.map(Number).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(directory)
    } catch {
      return false
    }
  })
}
