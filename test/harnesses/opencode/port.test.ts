import { expect, test } from 'vitest'
import type { HarnessSession } from '../../../src/bridge/adapter.ts'
import { messageIdOf } from '../../../src/harnesses/opencode/adapter/message-id.ts'
import { dataDirectory } from '../../support/data-directory.ts'
import { until } from '../../support/until.ts'
import { makeAdapter, makeTools, makeWake, never } from './bench.ts'
import { type FakeOpencode, startFakeOpencode } from './fake-opencode.ts'
import { spawnOpencode } from './spawn-opencode.ts'

/** A fake with one conversation, `ses_1`, and an adapter that knows its port. */
async function openDesk(options: { password?: string; env?: Record<string, string>; settings?: object } = {}) {
  const directory = dataDirectory()
  const fake = await startFakeOpencode({ directory: directory.path, password: options.password })
  fake.addSession('ses_1')
  const settings = { port: fake.port, ...options.settings }
  const adapter = makeAdapter(directory.path, { settings, env: options.env ?? {} })
  const session = async (): Promise<HarnessSession> => (await adapter.probe(never)).sessions[0]!
  return {
    directory: directory.path,
    fake,
    adapter,
    session,
    async [Symbol.asyncDispose]() {
      await adapter[Symbol.asyncDispose]()
      await fake[Symbol.asyncDispose]()
      directory[Symbol.dispose]()
    },
  }
}

/** Hands over a wake between whose look and act the user writes, and waits until it is held. */
async function wakeDuringTurn({ fake, adapter, session: look }: Awaited<ReturnType<typeof openDesk>>) {
  fake.holdsTurns = true
  const wake = makeWake()
  const session = await look()
  const { tools, done } = makeTools({ handingOver: async () => fake.type('ses_1', 'first') })
  const waking = adapter.wake(session, wake, tools)
  await until(
    () => done,
    (steps) => steps.includes('held'),
  )
  return { wake, session, waking }
}

const turnsOf = (fake: FakeOpencode, wakeId: string) =>
  fake.turns.filter(({ parentId }) => parentId === messageIdOf(wakeId))

test('an idle conversation gets one turn, and the event proves it', async () => {
  await using desk = await openDesk()
  const wake = makeWake()
  const { tools, done } = makeTools()
  const session = await desk.session()
  expect(session).toMatchObject({
    conversationId: 'ses_1',
    state: 'idle',
    route: 'port',
    process: { pid: process.pid },
  })
  const end = await desk.adapter.wake(session, wake, tools)
  expect(end).toEqual({ step: 'turn_started', detail: expect.stringContaining(messageIdOf(wake.id)) })
  expect(done).toEqual(['handing over: port', 'accepted'])
  expect(turnsOf(desk.fake, wake.id)).toHaveLength(1)
  expect(desk.fake.requests.filter((request) => request.includes('/tui/'))).toEqual([])
})

test('a wake keeps the agent of the last prompt: plan stays plan', async () => {
  await using desk = await openDesk()
  desk.fake.type('ses_1', 'hello', 'plan')
  const wake = makeWake()
  await desk.adapter.wake(await desk.session(), wake, makeTools().tools)
  expect(turnsOf(desk.fake, wake.id)).toMatchObject([{ agent: 'plan' }])
})

test('without its events the history proves the turn', async () => {
  await using desk = await openDesk()
  desk.fake.sendsEvents = false
  const end = await desk.adapter.wake(await desk.session(), makeWake(), makeTools().tools)
  expect(end).toMatchObject({ step: 'turn_started' })
})

test('a running turn and an open approval hold a wake, and nothing is sent', async () => {
  await using desk = await openDesk()
  desk.fake.holdsTurns = true
  desk.fake.type('ses_1', 'work')
  const { tools, done } = makeTools()
  const session = await desk.session()
  expect(await desk.adapter.wake(session, makeWake(), tools)).toMatchObject({
    step: 'held',
    detail: 'A turn is running.',
  })
  desk.fake.ask('ses_1')
  expect((await desk.session()).state).toBe('waitingOnApproval')
  expect(await desk.adapter.wake(session, makeWake(), tools)).toMatchObject({
    step: 'held',
    detail: expect.stringContaining('approval'),
  })
  expect(done).toEqual([])
  expect(desk.fake.prompts()).toEqual([])
})

test("the approval of a subagent is its conversation's", async () => {
  await using desk = await openDesk()
  desk.fake.addSession('ses_child', { parentID: 'ses_1' })
  desk.fake.ask('ses_child')
  const { sessions } = await desk.adapter.probe(never)
  expect(sessions).toMatchObject([{ conversationId: 'ses_1', state: 'waitingOnApproval' }])
})

test('a wake that comes during a turn waits for its end, and gets a turn of its own', async () => {
  await using desk = await openDesk()
  const { wake, waking } = await wakeDuringTurn(desk)
  expect(turnsOf(desk.fake, wake.id)).toHaveLength(0)
  desk.fake.finish('ses_1')
  expect(await waking).toMatchObject({ step: 'turn_started' })
  expect(turnsOf(desk.fake, wake.id)).toHaveLength(1)
})

test('a wake that OpenCode passes over is taken back, and gets its one turn when it comes again', async () => {
  await using desk = await openDesk()
  const { wake, session, waking } = await wakeDuringTurn(desk)
  desk.fake.reply(desk.fake.ask('ses_1'), 'reject')
  expect(await waking).toMatchObject({ step: 'held', detail: expect.stringContaining('taken back') })
  expect(desk.fake.messages.get('ses_1')!.some(({ info }) => info.id === messageIdOf(wake.id))).toBe(false)
  expect(await desk.adapter.find(session, wake.id, never)).toBe('absent')
  expect(await desk.adapter.wake(session, wake, makeTools().tools)).toMatchObject({ step: 'turn_started' })
  expect(turnsOf(desk.fake, wake.id)).toHaveLength(1)
})

test('a wake that a later prompt has taken along is delivered, and no turn of its own', async () => {
  await using desk = await openDesk()
  const { wake, session, waking } = await wakeDuringTurn(desk)
  desk.fake.stop('ses_1')
  desk.fake.type('ses_1', 'go on')
  expect(await waking).toMatchObject({ step: 'delivered' })
  expect(turnsOf(desk.fake, wake.id)).toHaveLength(0)
  expect(await desk.adapter.find(session, wake.id, never)).toBe('delivered')
})

test('a wake that is there already is followed, and never sent a second time', async () => {
  await using desk = await openDesk()
  const wake = makeWake()
  const session = await desk.session()
  await desk.adapter.wake(session, wake, makeTools().tools)
  expect(await desk.adapter.find(session, wake.id, never)).toBe('turn_started')
  const { tools, done } = makeTools()
  expect(await desk.adapter.wake(session, wake, tools)).toMatchObject({ step: 'turn_started' })
  expect(done).toEqual([])
  expect(desk.fake.prompts()).toHaveLength(1)
})

test('204 without the prompt in the conversation is unknown, and is not sent again', async () => {
  await using desk = await openDesk()
  desk.fake.isSilent = true
  const end = await desk.adapter.wake(await desk.session(), makeWake(), makeTools().tools)
  expect(end).toMatchObject({ step: 'unknown', detail: expect.stringContaining('not in the conversation') })
  expect(desk.fake.prompts()).toHaveLength(1)
})

test('a look that gets no answer while OpenCode boots is repeated', async () => {
  await using desk = await openDesk()
  desk.fake.hangs = 1
  expect((await desk.session()).conversationId).toBe('ses_1')
})

test('a server that answers nothing is a remark within seconds', async () => {
  await using desk = await openDesk()
  desk.fake.hangs = 100
  const startedAt = performance.now()
  const { sessions, remarks } = await desk.adapter.probe(never)
  expect(sessions).toEqual([])
  expect(remarks).toEqual([expect.stringContaining('does not answer')])
  expect(performance.now() - startedAt).toBeLessThan(10_000)
})

test('a bridge that stops leaves a wake that waits, and the next one finds it', async () => {
  await using desk = await openDesk()
  desk.fake.holdsTurns = true
  const wake = makeWake()
  const session = await desk.session()
  const { tools, done, stop } = makeTools({ handingOver: async () => desk.fake.type('ses_1', 'first') })
  const waking = desk.adapter.wake(session, wake, tools)
  await until(
    () => done,
    (steps) => steps.includes('held'),
  )
  stop()
  await expect(waking).rejects.toThrow('stopped')
  expect(await desk.adapter.find(session, wake.id, never)).toBe('waits')
  desk.fake.finish('ses_1')
  expect(await desk.adapter.find(session, wake.id, never)).toBe('turn_started')
})

test('a conversation that was deleted is misaddressed', async () => {
  await using desk = await openDesk()
  const session = await desk.session()
  desk.fake.sessions.delete('ses_1')
  expect(await desk.adapter.wake(session, makeWake(), makeTools().tools)).toMatchObject({ step: 'misaddressed' })
})

test('several conversations of one process are all candidates, and the remark names the plugin', async () => {
  await using desk = await openDesk()
  desk.fake.addSession('ses_2')
  desk.fake.addSession('ses_old', { time: { created: 1, updated: 1 } })
  desk.fake.addSession('ses_archived', { time: { created: 1, updated: Date.now(), archived: 1 } })
  desk.fake.addSession('ses_elsewhere', { directory: '/elsewhere' })
  const { sessions } = await desk.adapter.probe(never)
  expect(sessions.map(({ conversationId }) => conversationId)).toEqual(['ses_1', 'ses_2'])
  expect(sessions[0]!.remark).toContain('rouse install opencode --bridge')
})

test('a directory that is not allowed is not looked at', async () => {
  await using desk = await openDesk()
  using elsewhere = dataDirectory()
  const adapter = makeAdapter(elsewhere.path, { settings: { port: desk.fake.port } })
  expect((await adapter.probe(never)).sessions).toEqual([])
  expect(desk.fake.requests).not.toContain('GET /session')
})

test('the password comes from the variable that is named, or from a file, and a wrong one is a remark', async () => {
  const wanted = { password: 'a secret', settings: { passwordVariable: 'DONNA_PASSWORD' } }
  await using desk = await openDesk({ ...wanted, env: { DONNA_PASSWORD: 'a secret' } })
  expect((await desk.session()).conversationId).toBe('ses_1')
  await using wrong = await openDesk({ ...wanted, env: { DONNA_PASSWORD: 'another' } })
  const { sessions, remarks } = await wrong.adapter.probe(never)
  expect([sessions, remarks]).toEqual([[], [expect.stringContaining('wants another password')]])
  await using unread = await openDesk({ settings: { passwordFile: '/nonexistent' } })
  expect((await unread.adapter.probe(never)).remarks).toEqual([
    'opencode.passwordFile: /nonexistent cannot be read (ENOENT).',
  ])
})

test('the states are reported as they change', async () => {
  await using desk = await openDesk()
  desk.fake.holdsTurns = true
  const reported: string[] = []
  const stop = new AbortController()
  const watching = desk.adapter.watch!(({ state }) => void reported.push(state), stop.signal)
  await until(
    () => reported,
    (states) => states.includes('idle'),
  )
  desk.fake.type('ses_1', 'work')
  await until(
    () => reported,
    (states) => states.at(-1) === 'active',
  )
  desk.fake.dropEvents()
  const id = desk.fake.ask('ses_1')
  await until(
    () => reported,
    (states) => states.at(-1) === 'waitingOnApproval',
  )
  desk.fake.reply(id, 'once')
  await until(
    () => reported,
    (states) => states.at(-1) === 'idle',
  )
  stop.abort()
  await watching
})

// D50
test('a conversation that waits for its vendor reports the limit, and until when', async () => {
  await using desk = await openDesk()
  const limits: object[] = []
  desk.adapter.onLimit!((limit, at) => void limits.push({ ...limit, ...at }))
  const stop = new AbortController()
  const watching = desk.adapter.watch!(() => {}, stop.signal)
  const next = Date.now() + 3_600_000
  const message = 'Free usage exceeded, add credits https://opencode.ai/zen'
  await until(
    () => {
      desk.fake.emit('session.status', { sessionID: 'ses_1', status: { type: 'retry', attempt: 2, message, next } })
      return limits.length
    },
    (count) => count > 0,
  )
  expect(limits[0]).toEqual({ reason: 'usage-limit', until: next, detail: message, conversationId: 'ses_1' })
  stop.abort()
  await watching
})

test.runIf(process.platform === 'linux')(
  'a wake goes to the process of its conversation, and to no other',
  async () => {
    await using desk = await openDesk()
    using links = dataDirectory()
    const other = await spawnOpencode(links.path, desk.directory, 'ses_1')
    try {
      const { sessions } = await desk.adapter.probe(never)
      // The same conversation in two processes: only their events can tell whose it is.
      expect(sessions.map((session) => session.process?.pid).sort()).toEqual([process.pid, other.pid].sort())
      const own = sessions.find((session) => session.process?.pid === process.pid)!
      expect(await desk.adapter.wake(own, makeWake(), makeTools().tools)).toMatchObject({ step: 'turn_started' })
      expect(await other.prompts()).toEqual([])
      const theirs = sessions.find((session) => session.process?.pid === other.pid)!
      expect(await desk.adapter.wake(theirs, makeWake(), makeTools().tools)).toMatchObject({ step: 'turn_started' })
      expect(await other.prompts()).toHaveLength(1)
      expect(desk.fake.prompts()).toHaveLength(1)
    } finally {
      await other[Symbol.asyncDispose]()
    }
    const gone = { ...(await desk.session()), process: { pid: other.pid } }
    expect(await desk.adapter.wake(gone, makeWake(), makeTools().tools)).toMatchObject({ step: 'held' })
    expect(desk.fake.prompts()).toHaveLength(1)
  },
)
