import { expect, test } from 'vitest'
import type { HarnessSession } from '../../../src/bridge/adapter.ts'
import { startLocalServer } from '../../../src/bridge/local/server.ts'
import { messageIdOf } from '../../../src/harnesses/opencode/adapter/message-id.ts'
import { noProof } from '../../bridge/local/no-proof.ts'
import { dataDirectory } from '../../support/data-directory.ts'
import { until } from '../../support/until.ts'
import { makeAdapter, makeTools, makeWake, never } from './bench.ts'
import { startFakeOpencode } from './fake-opencode.ts'
import { loadPlugin } from './plugin-host.ts'

/** A fake with our plugin in it, whose user has written once, and a bridge with its local socket. */
async function openDesk() {
  const directory = dataDirectory()
  const env = { HOME: directory.path }
  const openServer = () => startLocalServer({ env, status: async () => ({}), prove: noProof, note: () => {} })
  const fake = await startFakeOpencode({ directory: directory.path })
  fake.addSession('ses_1')
  let server = await openServer()
  let endPlugin = await loadPlugin(fake, env, directory.path)
  let adapter = makeAdapter(directory.path, { clients: server })
  const find = async (): Promise<HarnessSession | undefined> => (await adapter.probe(never)).sessions[0]
  const session = async (): Promise<HarnessSession> => (await until(find, (one) => one !== undefined))!
  return {
    fake,
    session,
    find,
    get adapter() {
      return adapter
    },
    /** The bridge ends, and another one starts. */
    restartBridge: async () => {
      await server[Symbol.asyncDispose]()
      server = await openServer()
      adapter = makeAdapter(directory.path, { clients: server })
    },
    stopBridge: () => server[Symbol.asyncDispose](),
    /** OpenCode ends, and starts again with the same conversations. */
    restartOpencode: async () => {
      endPlugin()
      endPlugin = await loadPlugin(fake, env, directory.path)
    },
    loadTwice: async () => {
      endPlugin = await loadPlugin(fake, env, directory.path)
    },
    endPlugin: () => endPlugin(),
    async [Symbol.asyncDispose]() {
      endPlugin()
      await server[Symbol.asyncDispose]()
      await fake[Symbol.asyncDispose]()
      directory[Symbol.dispose]()
    },
  }
}

test('a conversation is known once its user has written, and is the one that is shown', async () => {
  await using desk = await openDesk()
  expect(await desk.find()).toBeUndefined()
  desk.fake.type('ses_1', 'hello')
  expect(await desk.session()).toMatchObject({
    conversationId: 'ses_1',
    state: 'idle',
    route: 'plugin',
    process: { pid: process.pid, startedAt: expect.any(String) },
  })
  desk.fake.addSession('ses_2')
  desk.fake.type('ses_2', 'another')
  await until(desk.find, (session) => session?.conversationId === 'ses_2')
  // A subagent is not what the terminal shows.
  desk.fake.addSession('ses_child', { parentID: 'ses_2' })
  desk.fake.type('ses_child', 'for the subagent')
  expect((await desk.session()).conversationId).toBe('ses_2')
})

test('an idle conversation gets one turn, also where the plugin was initialised twice', async () => {
  await using desk = await openDesk()
  await desk.loadTwice()
  desk.fake.type('ses_1', 'hello', 'plan')
  const wake = makeWake()
  const { tools, done } = makeTools()
  expect(await desk.adapter.wake(await desk.session(), wake, tools)).toEqual({
    step: 'turn_started',
    detail: 'message.updated: an answer to it',
  })
  expect(done).toEqual(['handing over: plugin', 'accepted'])
  const own = desk.fake.turns.filter(({ parentId }) => parentId === messageIdOf(wake.id))
  expect(own).toEqual([{ sessionId: 'ses_1', parentId: messageIdOf(wake.id), agent: 'plan' }])
})

test('a running turn and an open approval hold a wake', async () => {
  await using desk = await openDesk()
  desk.fake.holdsTurns = true
  desk.fake.type('ses_1', 'work')
  const session = await until(desk.find, (one) => one?.state === 'active')
  expect(await desk.adapter.wake(session!, makeWake(), makeTools().tools)).toMatchObject({ step: 'held' })
  const id = desk.fake.ask('ses_1')
  await until(desk.find, (one) => one?.state === 'waitingOnApproval')
  expect(await desk.adapter.wake(session!, makeWake(), makeTools().tools)).toMatchObject({ step: 'held' })
  desk.fake.reply(id, 'reject')
  await until(desk.find, (one) => one?.state === 'idle')
  expect(desk.fake.prompts()).toEqual([])
})

// D50
test('a conversation that waits for its vendor reports the limit, until it works again', async () => {
  await using desk = await openDesk()
  desk.fake.type('ses_1', 'hello')
  await desk.session()
  const limits: object[] = []
  desk.adapter.onLimit!((limit, at) => void limits.push({ ...limit, ...at }))
  const stop = new AbortController()
  const watching = desk.adapter.watch!(() => {}, stop.signal)
  const next = Date.now() + 3_600_000
  const message = 'Free usage exceeded, add credits https://opencode.ai/zen'
  const status = (said: object) => desk.fake.emit('session.status', { sessionID: 'ses_1', status: said })
  status({ type: 'retry', attempt: 2, message, next })
  await until(
    () => limits,
    (all) => all.length > 0,
  )
  expect(limits[0]).toEqual({ reason: 'usage-limit', until: next, detail: message, conversationId: 'ses_1' })
  status({ type: 'idle' })
  await until(desk.find, (session) => session?.state === 'idle')
  const { length } = limits
  desk.fake.type('ses_1', 'go on')
  await until(desk.find, (session) => session?.state === 'idle')
  expect(limits).toHaveLength(length)
  stop.abort()
  await watching
})

test('a wake that OpenCode passes over is taken back, and gets its one turn when it comes again', async () => {
  await using desk = await openDesk()
  desk.fake.type('ses_1', 'hello')
  const session = await desk.session()
  desk.fake.holdsTurns = true
  const wake = makeWake()
  // A prompt of its user, of which the plugin hears only later.
  const { tools, done } = makeTools({
    handingOver: async () => {
      const [listener] = desk.fake.listeners
      desk.fake.listeners.clear()
      desk.fake.type('ses_1', 'first')
      desk.fake.listeners.add(listener!)
    },
  })
  const waking = desk.adapter.wake(session, wake, tools)
  await until(
    () => done,
    (steps) => steps.includes('accepted'),
  )
  desk.fake.stop('ses_1')
  expect(await waking).toMatchObject({ step: 'held', detail: expect.stringContaining('taken back') })
  desk.fake.holdsTurns = false
  expect(await desk.adapter.wake(session, wake, makeTools().tools)).toMatchObject({ step: 'turn_started' })
  expect(desk.fake.turns.filter(({ parentId }) => parentId === messageIdOf(wake.id))).toHaveLength(1)
})

test('a bridge that was started again learns what became of a wake, and hands it over once', async () => {
  await using desk = await openDesk()
  desk.fake.type('ses_1', 'hello')
  const wake = makeWake()
  await desk.adapter.wake(await desk.session(), wake, makeTools().tools)
  await desk.restartBridge()
  expect(await desk.adapter.find(await desk.session(), wake.id, never)).toBe('turn_started')
  expect(await desk.adapter.find(await desk.session(), makeWake().id, never)).toBe('absent')
  expect(await desk.adapter.wake(await desk.session(), wake, makeTools().tools)).toMatchObject({ step: 'turn_started' })
  expect(desk.fake.prompts()).toHaveLength(1)
})

test('an OpenCode that was started again tells the wakes of its conversation', async () => {
  await using desk = await openDesk()
  desk.fake.type('ses_1', 'hello')
  const wake = makeWake()
  await desk.adapter.wake(await desk.session(), wake, makeTools().tools)
  await desk.restartOpencode()
  await until(desk.find, (session) => session === undefined)
  desk.fake.type('ses_1', 'here again')
  const session = await desk.session()
  expect(await desk.adapter.find(session, wake.id, never)).toBe('turn_started')
  expect(await desk.adapter.wake(session, wake, makeTools().tools)).toMatchObject({ step: 'turn_started' })
  expect(desk.fake.prompts()).toHaveLength(1)
})

test('an OpenCode that ends before the turn leaves the truth: unknown', async () => {
  await using desk = await openDesk()
  desk.fake.type('ses_1', 'hello')
  const session = await desk.session()
  desk.fake.isSilent = true
  const { tools, done } = makeTools()
  const waking = desk.adapter.wake(session, makeWake(), tools)
  await until(
    () => done,
    (steps) => steps.includes('accepted'),
  )
  desk.endPlugin()
  expect(await waking).toMatchObject({ step: 'unknown' })
})
