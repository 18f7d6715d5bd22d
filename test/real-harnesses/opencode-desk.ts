import { type AddressInfo, createServer } from 'node:net'
import type { AdapterContext, HarnessSession, OutgoingWake, WakeEnd, WakeTools } from '../../src/bridge/adapter.ts'
import { startLocalServer } from '../../src/bridge/local/server.ts'
import { opencodeRow as row } from '../../src/harnesses/opencode/adapter/opencode-adapter.ts'
import { newUlid } from '../../src/lib/ids.ts'
import { noProof } from '../bridge/local/no-proof.ts'
import { until } from '../support/until.ts'
import { startFakeModel } from './fake-model.ts'
import { openOffice } from './office.ts'
import { opencodeConfig, opencodeQuiet } from './opencode-config.ts'
import { Terminal } from './terminal.ts'

/**
 * A home with OpenCode in it, a model that its tests steer, and the adapter of the bridge. A prompt with the word HOLD is answered when
 * `release` is called; one with the word SHELL makes the model ask for a command, which OpenCode asks its user about.
 */
export async function openOpencodeDesk(opencode: string) {
  const office = await openOffice()
  const holding: (() => void)[] = []
  const seen: string[] = []
  const model = await startFakeModel(async ({ body }, number) => {
    const last = JSON.stringify((body.messages as unknown[]).at(-1))
    seen.push(last)
    if (last.includes('HOLD')) await new Promise<void>((resolve) => holding.push(resolve))
    const command = `touch ${office.at('project', 'made')}`
    if (last.includes('SHELL')) return { tool: 'bash', input: { command, description: 'make a file' } }
    return { text: `answer ${number}` }
  })
  Object.assign(office.env, opencodeQuiet)
  const ask = '\n  "permission": { "bash": "ask", "edit": "ask" },'
  office.write('.config/opencode/opencode.jsonc', opencodeConfig(model.url, ask))
  let server = await startLocalServer({ env: office.env, status: async () => ({}), prove: noProof, note: () => {} })
  const terminals: Terminal[] = []
  const contextOf = (): AdapterContext => ({
    env: office.env,
    settings: {},
    directories: [office.at('project')],
    clients: server,
    now: Date.now,
    note: () => {},
  })
  let adapter = row.create(contextOf())
  const letGo = () => {
    for (const release of holding.splice(0)) release()
  }
  const held = async (): Promise<void> => {
    await until(
      () => holding,
      (all) => all.length > 0,
    )
  }
  const sessions = async () => (await adapter.probe(AbortSignal.timeout(20_000))).sessions
  const find = async (): Promise<HarnessSession | undefined> => (await sessions())[0]
  return {
    office,
    model,
    /** The end of each request of the model. */
    seen,
    /** Resolves when the model holds an answer. */
    held,
    release: async () => {
      await held()
      letGo()
    },
    letGo,
    /** Resolves when the model was prompted with a text. */
    prompted: (text: string) =>
      until(
        () => seen,
        (all) => all.some((last) => last.includes(text)),
      ),
    /** OpenCode in a terminal. */
    open: async (...argv: string[]): Promise<Terminal> => {
      const terminal = new Terminal([opencode, ...argv], office.at('project'), office.env)
      terminals.push(terminal)
      return terminal
    },
    get adapter() {
      return adapter
    },
    find,
    sessions: (check: (all: readonly HarnessSession[]) => boolean) => until(sessions, check, 60_000, 500),
    session: async (state: HarnessSession['state'] = 'idle'): Promise<HarnessSession> =>
      (await until(find, (session) => session?.state === state, 60_000, 500))!,
    /** Hands a wake over, as the bridge does. */
    wake: async (session: HarnessSession, wake: OutgoingWake, more: Partial<WakeTools> = {}) => {
      const steps: string[] = []
      const startedAt = performance.now()
      const tools: WakeTools = {
        handingOver: async () => {},
        report: (step) => void steps.push(step),
        signal: AbortSignal.timeout(60_000),
        ...more,
      }
      const end: WakeEnd = await adapter.wake(session, wake, tools)
      return { end, steps, ms: Math.round(performance.now() - startedAt) }
    },
    /** The number of requests of the model whose last prompt was a wake. */
    turnsOf: (wake: OutgoingWake) => seen.filter((last) => last.includes(wake.id)).length,
    restartBridge: async () => {
      await server[Symbol.asyncDispose]()
      server = await startLocalServer({ env: office.env, status: async () => ({}), prove: noProof, note: () => {} })
      adapter = row.create(contextOf())
    },
    async [Symbol.asyncDispose]() {
      letGo()
      for (const terminal of terminals) await terminal[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      await model[Symbol.asyncDispose]()
      await office[Symbol.asyncDispose]()
    },
  }
}

export type OpencodeDesk = Awaited<ReturnType<typeof openOpencodeDesk>>

export function wakeOf(text: string): OutgoingWake {
  const id = newUlid(Date.now())
  return { id, text: `[Rouse ${id}] ${text}`, lines: `[Rouse ${id}]\n${text}` }
}

/** A port that nobody listens on. */
export async function freePort(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return String(port)
}
