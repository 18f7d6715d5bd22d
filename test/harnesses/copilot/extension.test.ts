import { fork } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startLocalServer } from '../../../src/bridge/local/server.ts'
import { CopilotAdapter } from '../../../src/harnesses/copilot/adapter/copilot-adapter.ts'
import { wakeOf } from '../../bridge/local/desk.ts'
import { noProof } from '../../bridge/local/no-proof.ts'
import { makeHome } from '../../cli/install/homes.ts'
import { until } from '../../support/until.ts'

/** A session of Copilot CLI with the extension that `rouse install` writes. */
async function openDesk() {
  const home = makeHome()
  const { code, stderr } = await home.rouse('install', 'copilot', '--bridge')
  if (code !== 0) throw new Error(stderr)
  const sdk = home.at('node_modules/@github/copilot-sdk')
  mkdirSync(sdk, { recursive: true })
  copyFileSync(join(import.meta.dirname, 'fake-sdk.mjs'), join(sdk, 'extension.mjs'))
  writeFileSync(join(sdk, 'package.json'), '{"name":"@github/copilot-sdk","exports":{"./extension":"./extension.mjs"}}')
  const startBridge = () =>
    startLocalServer({ env: home.env, status: async () => ({}), prove: noProof, note: () => {} })
  const child = fork(home.at('.copilot/extensions/rouse/extension.mjs'), { cwd: home.path, execArgv: [], silent: true })
  const exited = once(child, 'exit')
  const sent: { prompt: string; mode: string }[] = []
  child.on('message', ({ options }: { options: (typeof sent)[number] }) => sent.push(options))
  return {
    home,
    sent,
    startBridge,
    tell: (type: string, data: object = {}) => void child.send({ type, data }),
    async [Symbol.asyncDispose]() {
      child.disconnect()
      await exited
      home[Symbol.dispose]()
    },
  }
}

const adapterOf = (
  clients: Awaited<ReturnType<typeof startLocalServer>>,
  env: Record<string, string>,
  turnMs = 20_000,
) =>
  new CopilotAdapter(
    { env, settings: {}, directories: [], clients, now: Date.now, note: () => {} },
    { turnMs, findMs: 5_000 },
  )

async function found(adapter: CopilotAdapter, state: string) {
  const { sessions } = await until(
    () => adapter.probe(),
    (probe) => probe.sessions[0]?.state === state,
  )
  return sessions[0]!
}

function toolsOf(steps: string[]) {
  return {
    handingOver: async (route: string) => void steps.push(route),
    report: (step: string) => void steps.push(step),
    signal: AbortSignal.timeout(60_000),
  }
}

test('the extension queues a wake in a session that rests, and its events prove the turn, also to the next bridge', async () => {
  await using desk = await openDesk()
  const first = await desk.startBridge()
  const adapter = adapterOf(first, desk.home.env)
  desk.tell('session.idle')
  const target = await found(adapter, 'idle')
  expect(target).toMatchObject({ conversationId: 'copilot-1', route: 'extension', process: { pid: process.pid } })
  const [wake, steps] = [wakeOf(), [] as string[]]
  const waking = adapter.wake(target, wake, toolsOf(steps))
  await until(
    () => desk.sent,
    (sent) => sent.length === 1,
  )
  expect(desk.sent).toEqual([{ prompt: wake.text, mode: 'enqueue' }])
  desk.tell('user.message', { content: wake.text })
  desk.tell('assistant.turn_start', { turnId: 't1' })
  expect(await waking).toEqual({ step: 'turn_started', detail: 'the event assistant.turn_start' })
  expect(steps).toEqual(['extension', 'accepted'])
  await first[Symbol.asyncDispose]()
  await using second = await desk.startBridge()
  const later = adapterOf(second, desk.home.env)
  expect(await later.find(target, wake.id, AbortSignal.timeout(20_000))).toBe('turn_started')
  expect(desk.sent).toHaveLength(1)
})

test('a session that works, that asks its user, or that says nothing is left alone', async () => {
  await using desk = await openDesk()
  await using bridge = await desk.startBridge()
  const adapter = adapterOf(bridge, desk.home.env)
  const refused = async (state: string) =>
    (await adapter.wake(await found(adapter, state), wakeOf(), toolsOf([]))) as { step: string }
  expect(await refused('unknown')).toMatchObject({ step: 'held' })
  desk.tell('assistant.turn_start', { turnId: 't1' })
  expect(await refused('active')).toMatchObject({ step: 'held', detail: 'a turn runs' })
  desk.tell('permission.requested')
  expect(await refused('waitingOnApproval')).toMatchObject({ step: 'held', detail: 'the session waits for its user' })
  expect(desk.sent).toEqual([])
})

test('a message that is queued and never begins is no more than written', async () => {
  await using desk = await openDesk()
  await using bridge = await desk.startBridge()
  const adapter = adapterOf(bridge, desk.home.env, 300)
  desk.tell('session.idle')
  const end = await adapter.wake(await found(adapter, 'idle'), wakeOf(), toolsOf([]))
  expect(end).toMatchObject({ step: 'written' })
})

test.each([
  ['claude', '.claude/skills/rouse/monitors/monitors.json'],
  ['copilot', '.copilot/extensions/rouse/extension.mjs'],
])(
  'what the bridge needs in %s stays with the next installation, and goes when it is taken out',
  async (harness, name) => {
    using home = makeHome()
    await home.rouse('install', harness)
    expect(existsSync(home.at(name))).toBe(false)
    await home.rouse('install', harness, '--bridge')
    const text = home.read(name)
    expect((await home.rouse('install', harness)).stdout).toContain('Nothing had to be changed.')
    expect(home.read(name)).toBe(text)
    expect(await home.rouse('uninstall', harness)).toMatchObject({ code: 0, stderr: '' })
    expect(existsSync(home.at(name))).toBe(false)
  },
)
