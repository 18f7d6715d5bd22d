import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { AdapterRow, HarnessSession } from '../../../src/bridge/adapter.ts'
import { type BridgedAgent, bridgeDefaults } from '../../../src/bridge/config/bridge-config.ts'
import { Journal } from '../../../src/bridge/journal/journal.ts'
import type { LocalServer, LocalServerOptions } from '../../../src/bridge/local/clients.ts'
import type { ProofState } from '../../../src/bridge/local/protocol.ts'
import type { Recipe } from '../../../src/bridge/restart/recipe.ts'
import { runBridge } from '../../../src/bridge/run/bridge.ts'
import type { OutgoingReceipt } from '../../../src/bridge/run/receipt-outbox.ts'
import type { BridgeStatus } from '../../../src/bridge/run/status.ts'
import type { Fetch } from '../../../src/client/client-fetch.ts'
import type { RecoveryTimes } from '../../../src/client/wakes/recovery.ts'
import { dataDirectory } from '../../support/data-directory.ts'
import { startGateway, type TestAgent, type TestGateway } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'
import { FakeHarness } from './fake-harness.ts'

/** A bridge that runs, and what it has said. */
interface RunningBridge extends AsyncDisposable {
  readonly notes: readonly string[]
  readonly receipts: readonly (OutgoingReceipt & { readonly agent: string })[]
  status(): Promise<BridgeStatus>
  prove(agent: string, run: string): Promise<ProofState>
  /** Resolves once a step was reported, with its receipt. */
  step(step: string): Promise<OutgoingReceipt>
  /** Resolves once a line was said. */
  noted(pattern: RegExp): Promise<string>
  /** The reason why it ended; undefined: it was stopped. */
  readonly ended: Promise<Error | undefined>
}

interface DeskOptions {
  readonly gateway: Pick<TestGateway, 'url'>
  readonly agents: readonly TestAgent[]
  readonly rows: readonly AdapterRow[]
  /** Where its journal and the directory of its conversations are. */
  readonly home: string
  readonly limits?: Partial<Pick<BridgedAgent, 'turnsAnHour' | 'wakesFromOneAgentAnHour'>> & {
    maxTurnsAMinute?: number
  }
  readonly triggers?: BridgedAgent['triggers']
  readonly approvals?: true | undefined
  readonly harnessWaitMinutes?: number
  readonly fetch?: Fetch
  readonly recoveryTimes?: RecoveryTimes
  /** The recipe of each agent. */
  readonly restart?: Recipe
  readonly accountMs?: number
  readonly env?: Readonly<Record<string, string>>
  /** The settings of each adapter. */
  readonly adapters?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** The directory of the conversations. */
export function workplace(home: string): string {
  const path = join(home, 'app')
  mkdirSync(path, { recursive: true })
  return realpathSync(path)
}

/**
 * A gateway with the agent @donna, a harness with a conversation of hers, and the options of a bridge for the two. `session` is what is
 * special about the conversation.
 */
export async function openPlace(session: Partial<HarnessSession> = {}) {
  const home = dataDirectory()
  const gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const harness = new FakeHarness()
  harness.set({ ...session, cwd: workplace(home.path) })
  return {
    home: home.path,
    gateway,
    donna,
    harness,
    options: { gateway, agents: [donna], rows: [harness.row()], home: home.path },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      home[Symbol.dispose]()
    },
  }
}

/** Starts a bridge, and waits until its agents are connected unless the test wants otherwise. */
export async function startBridge(options: DeskOptions, { isConnected = true } = {}): Promise<RunningBridge> {
  const {
    gateway,
    agents,
    rows,
    home,
    limits = {},
    triggers = ['SENT_TO_ME'],
    approvals,
    fetch,
    recoveryTimes,
    harnessWaitMinutes,
    restart,
    accountMs,
    env = {},
    adapters = {},
  } = options
  const notes: string[] = []
  const receipts: (OutgoingReceipt & { agent: string })[] = []
  const stopping = new AbortController()
  const note = (text: string) => void notes.push(text)
  let local: LocalServerOptions | undefined
  const startLocal = async (given: LocalServerOptions) => {
    local = given
    return nobody as LocalServer
  }
  const directories = [workplace(home)]
  const config = {
    path: join(home, 'bridge.json'),
    adapters,
    maxTurnsAMinute: limits.maxTurnsAMinute ?? bridgeDefaults.maxTurnsAMinute,
    harnessWaitMinutes: harnessWaitMinutes ?? bridgeDefaults.harnessWaitMinutes,
    agents: agents.map(({ handle, key }) => ({
      ...bridgeDefaults,
      ...limits,
      profile: { name: handle.replace('@', ''), url: gateway.url, key, identity: `@${handle.replace('@', '')}` },
      harnesses: rows.map(({ id }) => id),
      directories,
      triggers,
      ...(approvals ? { approvals } : {}),
      ...(restart ? { restart } : {}),
    })),
  }
  const io = { stdout: () => {}, stderr: () => {}, env, signal: stopping.signal, ...(fetch ? { fetch } : {}) }
  const journal = Journal.open({ path: join(home, 'state', 'bridge.db'), now: Date.now, note })
  const noteReceipt = (agent: string, receipt: OutgoingReceipt) => void receipts.push({ agent, ...receipt })
  const times = { recoveryTimes, accountMs }
  const ended = runBridge({ config, rows, journal, startLocal, io, now: Date.now, note, noteReceipt, ...times })
    .catch((error: Error) => (stopping.signal.aborted ? undefined : error))
    .finally(() => journal[Symbol.dispose]())
  const bridge: RunningBridge = {
    notes,
    receipts,
    status: async () => (await local!.status()) as BridgeStatus,
    prove: async (agent, run) => local!.prove(agent, run),
    step: async (step) =>
      (await until(
        () => receipts.find((one) => one.step === step),
        (found) => found !== undefined,
      ))!,
    noted: async (pattern) =>
      (await until(
        () => notes.find((one) => pattern.test(one)),
        (found) => found !== undefined,
      ))!,
    ended: ended as Promise<Error | undefined>,
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await ended
    },
  }
  if (isConnected) {
    await until(
      () => notes.filter((text) => text.endsWith(': connected')).length,
      (count) => count >= agents.length,
    )
  }
  return bridge
}

/** A local socket that nobody calls. */
const nobody = {
  address: '',
  attached: () => [],
  reportedConversations: () => [],
  onChange: () => () => {},
  reported: async () => undefined,
  [Symbol.asyncDispose]: async () => {},
}
