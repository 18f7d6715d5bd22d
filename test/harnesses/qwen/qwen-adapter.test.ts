import { randomUUID } from 'node:crypto'
import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { qwenRow } from '../../../src/harnesses/qwen/adapter/qwen-adapter.ts'
import { ReceiptInbox } from '../../../src/harnesses/qwen/adapter/receipt-inbox.ts'
import { atTestEnd } from '../../support/ends.ts'
import { until } from '../../support/until.ts'
import { attempt, aWake, contextOf } from '../adapter-tools.ts'
import { makeHome, startSession, trusted } from './fake-session.ts'

const never = new AbortController().signal
const cwd = '/home/donna/project'

function adapterFor(home: string, token: string | undefined = trusted, settings = {}) {
  const controllerTokenFile = join(home, `token-${randomUUID()}`)
  writeFileSync(controllerTokenFile, `${token}\n`, { mode: 0o600 })
  const { context, clients } = contextOf({ settings: { home, controllerTokenFile, ...settings }, directories: [cwd] })
  const adapter = qwenRow.create(context)
  atTestEnd(() => adapter[Symbol.asyncDispose]())
  return { adapter, clients, controllerTokenFile, find: async () => (await adapter.probe(never)).sessions[0]! }
}

// Its records name processes as Linux does.
describe.skipIf(process.platform !== 'linux')('Qwen Code', () => {
  test('a message of the trusted controller reaches the model once, also when it is sent again', async () => {
    const home = makeHome()
    const session = await startSession(home, { cwd })
    const { adapter, find } = adapterFor(home)
    const found = await find()
    expect(found).toMatchObject({
      conversationId: session.record.sessionId,
      cwd,
      route: 'controller',
      process: { pid: process.pid },
    })
    const wake = aWake()
    const { tools, steps } = attempt({}, 'delivered')
    expect(await adapter.wake(found, wake, tools)).toEqual({ step: 'delivered', detail: 'because delivered' })
    expect(steps).toEqual(['handing over: controller', 'written', 'delivered'])
    expect(await adapter.find(found, wake.id, never)).toBe('absent')
    expect(await adapter.wake(found, wake, attempt({}, 'delivered').tools)).toMatchObject({ step: 'delivered' })
    expect(session.model).toEqual([wake.lines])
  })

  test('a hook that names the wake proves that its turn began', async () => {
    const home = makeHome()
    const session = await startSession(home, { cwd })
    const { adapter, find, clients } = adapterFor(home)
    const found = await find()
    const wake = aWake()
    const ending = adapter.wake(found, wake, attempt().tools)
    await until(
      () => session.model.length,
      (count) => count === 1,
    )
    clients.report({ wakeId: wake.id, step: 'turn_started', proof: 'UserPromptSubmit' })
    expect(await ending).toEqual({ step: 'turn_started', detail: 'UserPromptSubmit' })
    expect(await adapter.find(found, wake.id, never)).toBe('turn_started')
  })

  test('what its hooks say of a session is its state; those of another process say nothing of it', async () => {
    const home = makeHome()
    const session = await startSession(home, { cwd })
    const { find, clients } = adapterFor(home)
    expect(await find()).toMatchObject({ state: 'unknown' })
    const report = {
      harness: 'qwen',
      conversationId: String(session.record.sessionId),
      event: 'UserPromptSubmit',
      at: 0,
    }
    const working = { ...report, state: 'active', activeTurnId: 'turn 1' } as const
    clients.conversations.push({ ...working, process: { pid: 1 } })
    expect(await find()).toMatchObject({ state: 'unknown' })
    clients.conversations.push({ ...working, process: { pid: process.pid } })
    expect(await find()).toMatchObject({ state: 'active', activeTurnId: 'turn 1' })
  })

  test.each(['accept', 'deny'] as const)('a held message waits for its user: %s', async (what) => {
    const home = makeHome()
    const session = await startSession(home, { cwd, policy: 'hold' })
    const { adapter, find } = adapterFor(home)
    const { tools, steps } = attempt({}, 'delivered')
    const ending = adapter.wake(await find(), aWake(), tools)
    await until(
      () => steps,
      (all) => all.includes('held'),
    )
    session.decide(what)
    expect(await ending).toMatchObject({ step: what === 'accept' ? 'delivered' : 'denied' })
  })

  test.each([
    ['refuse', { step: 'refused', detail: 'because refused' }],
    ['expire', { step: 'expired', detail: 'because expired' }],
    ['drop', { step: 'dropped', detail: 'rate-limited: too many' }],
  ] as const)('what the session says ends it: %s', async (policy, end) => {
    const home = makeHome()
    await startSession(home, { cwd, policy })
    const { adapter, find } = adapterFor(home)
    expect(await adapter.wake(await find(), aWake(), attempt().tools)).toEqual(end)
  })

  test('a bridge that stops leaves a held message to its user', async () => {
    const home = makeHome()
    await startSession(home, { cwd, policy: 'hold' })
    const { adapter, find } = adapterFor(home)
    const { tools, steps, stop } = attempt()
    const ending = adapter.wake(await find(), aWake(), tools)
    await until(
      () => steps,
      (all) => all.includes('held'),
    )
    stop()
    expect(await ending).toMatchObject({ step: 'held' })
  })

  test('lost receipts, and a token that was taken back, leave it at written', async () => {
    const home = makeHome()
    const session = await startSession(home, { cwd, losesReceipts: true })
    const lost = adapterFor(home)
    const revoked = adapterFor(home, `qpc_${'b2'.repeat(32)}`)
    const found = await lost.find()
    const ends = await Promise.all([
      lost.adapter.wake(found, aWake(), attempt().tools),
      revoked.adapter.wake(found, aWake(), attempt().tools),
    ])
    expect(ends).toEqual(ends.map(() => ({ step: 'written', detail: expect.stringContaining('no receipt') })))
    expect(session.model).toHaveLength(1)
  })

  test('a session that was cleared under the same process is misaddressed, and nothing is sent to the new one', async () => {
    const home = makeHome()
    const session = await startSession(home, { cwd })
    const { adapter, find } = adapterFor(home)
    const before = await find()
    session.clear()
    expect(await adapter.wake(before, aWake(), attempt().tools)).toMatchObject({ step: 'misaddressed' })
    // It was cleared after the record was read.
    const { tools } = attempt({ handingOver: async () => session.clear() })
    expect(await adapter.wake(await find(), aWake(), tools)).toMatchObject({ step: 'misaddressed' })
    expect(session.model).toEqual([])
    expect(await adapter.find(before, 'x', never)).toBe('unknown')
  })

  test('a session that has crashed leaves a record behind, and nobody is there', async () => {
    const home = makeHome()
    const session = await startSession(home, { cwd })
    const { adapter, find } = adapterFor(home)
    session.write({ ipcPath: join(home, 'gone.sock') })
    expect(await adapter.wake(await find(), aWake(), attempt().tools)).toMatchObject({ step: 'misaddressed' })
  })

  test('a session that takes the connection and does not read is unknown', async () => {
    const home = makeHome()
    await startSession(home, { cwd, isStuck: true })
    const { adapter, find } = adapterFor(home)
    expect(await adapter.wake(await find(), aWake(), attempt().tools)).toMatchObject({ step: 'unknown' })
  })

  test.each([
    { procStart: '00000000-0000-0000-0000-000000000000:1' },
    { pidNs: 1 },
    { schemaVersion: 2 },
    { pid: 1 },
    { kind: 'external' },
    { sessionId: 7 },
  ])('a record of something else is no session: %j', async (over) => {
    const home = makeHome()
    const session = await startSession(home, { cwd })
    session.write(over)
    expect((await adapterFor(home).adapter.probe(never)).sessions).toEqual([])
  })

  test('a session without an inbox is shown with its remedy, and not reached', async () => {
    const home = makeHome()
    const session = await startSession(home, { cwd })
    session.write({ ipcPath: undefined })
    const { adapter, find } = adapterFor(home)
    const found = await find()
    expect(found).toMatchObject({ remark: expect.stringContaining('crossSessionMessaging') })
    expect(found.route).toBeUndefined()
    expect(await adapter.wake(found, aWake(), attempt().tools)).toMatchObject({ step: 'failed' })
  })

  test.each(['', 'qpc_short'])('without a token it says what to do, and shows none: %j', async (token) => {
    const home = makeHome()
    await startSession(home, { cwd })
    const { adapter, find } = adapterFor(home, token)
    const { remarks } = await adapter.probe(never)
    expect(remarks).toEqual([expect.stringContaining('qwen sessions controllers add')])
    expect(remarks[0]).not.toContain('qpc_short')
    const found = await find()
    expect(found.route).toBeUndefined()
    const { tools, steps } = attempt()
    expect(await adapter.wake(found, aWake(), tools)).toMatchObject({ step: 'failed' })
    expect(steps).toEqual([])
  })

  test('a token that others may read is not used', async () => {
    const home = makeHome()
    await startSession(home, { cwd })
    const { adapter, controllerTokenFile } = adapterFor(home)
    chmodSync(controllerTokenFile, 0o644)
    expect((await adapter.probe(never)).remarks).toEqual([expect.stringContaining('chmod 600')])
  })

  test('the token may be in a variable, and never in the configuration', async () => {
    const home = makeHome()
    await startSession(home, { cwd })
    const { context } = contextOf({
      env: { QWEN_TOKEN: trusted },
      settings: { home, controllerTokenVariable: 'QWEN_TOKEN' },
    })
    expect((await qwenRow.create(context).probe(never)).remarks).toEqual([])
    for (const settings of [
      { controllerTokenFile: trusted },
      { controllerTokenFile: '/x', controllerTokenVariable: 'Y' },
    ]) {
      expect(() => qwenRow.create(contextOf({ settings }).context)).toThrow(/^qwen/)
    }
  })

  test('nothing is there without Qwen Code', async () => {
    const { context } = contextOf({ settings: { home: '/nonexistent' } })
    expect(await qwenRow.create(context).probe(never)).toEqual({ isThere: false, sessions: [], remarks: [] })
  })

  test('the inbox is in a directory of this user alone, takes no receipt without its token, and leaves nothing behind', async () => {
    const inbox = await ReceiptInbox.open({})
    const directory = join(inbox.path, '..')
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    expect(statSync(inbox.path).mode & 0o777).toBe(0o600)
    const seen: string[] = []
    inbox.follow('m1', ({ status }) => void seen.push(status))
    const say = (token: string, status: string) =>
      new Promise((resolve) => {
        const receipt = { msgV: 1, msgId: 'r', type: 'control', action: 'delivery_status', status, origMsgId: 'M-1' }
        const lines = [{ msgV: 1, type: 'auth', token }, receipt].map((line) => `${JSON.stringify(line)}\n`)
        createConnection(inbox.path)
          .on('error', () => {})
          .on('close', resolve)
          .resume()
          .end(lines.join(''))
      })
    await say('wrong', 'denied')
    await say(inbox.token, 'delivered')
    await say(inbox.token, 'something new')
    expect(seen).toEqual(['delivered'])
    await inbox[Symbol.asyncDispose]()
    expect(() => readdirSync(directory)).toThrow()
  })
})
