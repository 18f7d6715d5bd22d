import { expect, test } from 'vitest'
import type { HarnessSession } from '../../../../src/bridge/adapter.ts'
import { startLocalServer } from '../../../../src/bridge/local/server.ts'
import { acpRow } from '../../../../src/harnesses/generic/acp/acp-adapter.ts'
import { runAcpProxy } from '../../../../src/harnesses/generic/acp/acp-proxy.ts'
import { noProof } from '../../../bridge/local/no-proof.ts'
import { dataDirectory } from '../../../support/data-directory.ts'
import { atTestEnd } from '../../../support/ends.ts'
import { until } from '../../../support/until.ts'
import { attempt, aWake, contextOf } from '../../adapter-tools.ts'
import { startEditor } from './editor.ts'

const never = new AbortController().signal

/** The bridge of a user, and the environment in which its programs find it. */
async function openBridge() {
  const directory = dataDirectory()
  const env = { HOME: directory.path, PATH: process.env.PATH ?? '' }
  const open = () => startLocalServer({ env, status: async () => ({}), prove: noProof, note: () => {} })
  let local = await open()
  atTestEnd(async () => {
    await local[Symbol.asyncDispose]()
    directory[Symbol.dispose]()
  })
  const adapter = () => acpRow.create(contextOf({ clients: local }).context)
  return {
    env,
    adapter,
    async restart() {
      await local[Symbol.asyncDispose]()
      local = await open()
    },
    /** The one session, in this state. */
    async session(state: HarnessSession['state'] = 'idle'): Promise<HarnessSession> {
      const { sessions } = await until(
        () => adapter().probe(never),
        (probe) => probe.sessions[0]?.state === state,
      )
      return sessions[0]!
    },
  }
}

const isUpdate = (kind: string) => (message: { method?: string }) => JSON.stringify(message).includes(`"${kind}"`)

test.each([1, 2] as const)(
  'version %i: a wake is a prompt between turns, its turn is shown, and its answer stays here',
  async (version) => {
    const bridge = await openBridge()
    const editor = startEditor(bridge.env, version)
    const sessionId = await editor.open()
    const session = await bridge.session()
    expect(session).toMatchObject({ conversationId: sessionId, cwd: '/home/donna/project', route: 'proxy' })
    const wake = aWake()
    const { tools, steps } = attempt()
    expect(await bridge.adapter().wake(session, wake, tools)).toMatchObject({ step: 'turn_started' })
    expect(steps.slice(0, 2)).toEqual(['handing over: proxy', 'written'])
    await until(editor.messages, (all) => all.some(isUpdate('agent_message_chunk')))
    expect(editor.messages().filter(isUpdate(version === 1 ? 'user_message_chunk' : 'user_message'))).toHaveLength(1)
    expect(editor.raw()).not.toContain('rouse:')
    await bridge.session('idle')
    expect(await bridge.adapter().find(session, wake.id, never)).toBe('turn_started')
  },
)

test('what both sides say passes through byte for byte', async () => {
  const editor = startEditor({ HOME: '/nonexistent' })
  const lines = [
    '{"id" :7,  "method":"_x/y","params":{"a":"\\u00e9 é 👩‍👩‍👧"}}\r\n',
    'no json\n',
    '[1,2]\n',
    `"${'x'.repeat(20 * 1024 * 1024)}"\n`,
    '{}\n',
  ]
  for (const line of lines) editor.input.write(line)
  const sent = lines.join('')
  await until(editor.agentReadBytes, (size) => size === Buffer.byteLength(sent), 60_000)
  expect(editor.agentRead() === sent).toBe(true)
  editor.input.end()
  expect(await editor.code).toBe(0)
})

test('a wake waits for the turn of the user, and for what the agent asks', async () => {
  const bridge = await openBridge()
  const editor = startEditor(bridge.env)
  const sessionId = await editor.open()
  editor.prompt(5, sessionId, 'ask me')
  const waiting = await bridge.session('waitingOnApproval')
  expect(await bridge.adapter().wake(waiting, aWake(), attempt().tools)).toMatchObject({
    step: 'held',
    detail: expect.stringContaining('asks'),
  })
  editor.say({ id: 1, result: { outcome: { outcome: 'selected', optionId: 'yes' } } })
  await editor.answerTo(5)
  editor.prompt(6, sessionId, 'hold on')
  const busy = await bridge.session('active')
  expect(await bridge.adapter().wake(busy, aWake(), attempt().tools)).toMatchObject({ step: 'held' })
  editor.say({ method: 'session/cancel', params: { sessionId } })
  expect(await editor.answerTo(6)).toMatchObject({ result: { stopReason: 'cancelled' } })
  expect(await bridge.adapter().wake(await bridge.session(), aWake(), attempt().tools)).toMatchObject({
    step: 'turn_started',
  })
})

test('a prompt of the user waits for the end of our turn, and its cancel ends ours', async () => {
  const bridge = await openBridge()
  const editor = startEditor(bridge.env)
  const sessionId = await editor.open()
  const session = await bridge.session()
  expect(await bridge.adapter().wake(session, aWake({ subject: 'hold' }), attempt().tools)).toMatchObject({
    step: 'turn_started',
  })
  editor.prompt(8, sessionId, 'my own words')
  editor.say({ id: 9, method: 'session/set_mode', params: { sessionId, modeId: 'plan' } })
  await until(editor.agentRead, (read) => read.includes('set_mode'))
  expect(editor.agentRead()).not.toContain('my own words')
  editor.say({ method: 'session/cancel', params: { sessionId } })
  expect(await editor.answerTo(8)).toMatchObject({ result: { stopReason: 'cancelled' } })
  await bridge.session('idle')
  editor.prompt(10, sessionId, 'my other words')
  expect(await editor.answerTo(10)).toMatchObject({ result: { stopReason: 'end_turn' } })
})

test('a prompt that waited goes on when our turn has ended', async () => {
  const bridge = await openBridge()
  const editor = startEditor(bridge.env)
  const sessionId = await editor.open()
  await bridge.adapter().wake(await bridge.session(), aWake({ subject: 'ask' }), attempt().tools)
  editor.prompt(8, sessionId, 'my own words')
  // The agent's question in our turn is the user's.
  await until(editor.messages, (all) => all.some(isUpdate('session/request_permission')))
  editor.say({ id: 1, result: { outcome: { outcome: 'cancelled' } } })
  expect(await editor.answerTo(8)).toMatchObject({ result: { stopReason: 'end_turn' } })
})

test('an agent that refuses the prompt has failed; one that dies before its first word is unknown, and its code is that of the proxy', async () => {
  const bridge = await openBridge()
  const editor = startEditor(bridge.env)
  await editor.open()
  const session = await bridge.session()
  expect(await bridge.adapter().wake(session, aWake({ subject: 'fail' }), attempt().tools)).toEqual({
    step: 'failed',
    detail: 'error -32000: Authentication required',
    isUntouched: true,
    isTurn: true,
  })
  expect(await bridge.adapter().wake(await bridge.session(), aWake({ subject: 'die' }), attempt().tools)).toMatchObject(
    { step: 'unknown' },
  )
  expect(await editor.code).toBe(7)
  expect(await bridge.adapter().wake(session, aWake(), attempt().tools)).toMatchObject({ step: 'misaddressed' })
  expect(await bridge.adapter().find(session, 'x', never)).toBe('unknown')
})

test('an agent that says nothing leaves it at written when the bridge stops', async () => {
  const bridge = await openBridge()
  const editor = startEditor(bridge.env)
  await editor.open()
  const { tools } = attempt({}, 'written')
  expect(await bridge.adapter().wake(await bridge.session(), aWake({ subject: 'silent' }), tools)).toMatchObject({
    step: 'written',
  })
})

test('two sessions of one agent are two conversations', async () => {
  const bridge = await openBridge()
  const editor = startEditor(bridge.env)
  await editor.open(1, '/home/donna/one')
  await editor.open(2, '/home/donna/two')
  const { sessions } = await until(
    () => bridge.adapter().probe(never),
    (probe) => probe.sessions.length === 2,
  )
  expect(sessions.map(({ cwd }) => cwd).sort()).toEqual(['/home/donna/one', '/home/donna/two'])
  editor.prompt(5, 's1', 'hold')
  const two = await until(
    async () => (await bridge.adapter().probe(never)).sessions,
    (all) => all.some(({ state }) => state === 'active'),
  )
  expect(two.find(({ conversationId }) => conversationId === 's2')).toMatchObject({ state: 'idle' })
})

test('without a bridge the editor notices nothing, and a bridge that starts later finds the session', async () => {
  const bridge = await openBridge()
  const editor = startEditor(bridge.env)
  const sessionId = await editor.open()
  await bridge.session()
  await bridge.restart()
  editor.prompt(5, sessionId, 'hello')
  expect(await editor.answerTo(5)).toMatchObject({ result: { stopReason: 'end_turn' } })
  expect(await bridge.session()).toMatchObject({ conversationId: sessionId })
})

test('an editor that ends lets the agent end; the proxy ends with it', async () => {
  const editor = startEditor({ HOME: '/nonexistent' })
  await editor.open()
  editor.input.end()
  expect(await editor.code).toBe(0)
})

test('an agent that cannot be started is an error', async () => {
  const { PassThrough } = await import('node:stream')
  const options = { env: {}, input: new PassThrough(), output: new PassThrough() }
  await expect(runAcpProxy({ ...options, command: ['/nonexistent/agent'] })).rejects.toThrow('ENOENT')
})

test('without an agent behind the proxy it says how to start one', async () => {
  expect(await (await openBridge()).adapter().probe(never)).toMatchObject({
    isThere: false,
    remarks: [expect.stringContaining('rouse bridge acp --')],
  })
})
