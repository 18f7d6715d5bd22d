import { expect, test } from 'vitest'
import { rewakeSeconds } from '../../../src/harnesses/claude/adapter/inside/rewake-seconds.ts'
import { wakeOf } from '../../bridge/local/desk.ts'
import { until } from '../../support/until.ts'
import { attempt, found, openDesk } from './desk.ts'

const byHooks = ['--bridge', '--bridge-way', 'hooks']
const isReachable = ({ route }: { route?: string }) => route === 'rewake'

test('a waiting hook wakes an idle session, and the end of the turn arms the next one', async () => {
  await using desk = await openDesk(...byHooks)
  await using bridge = await desk.startBridge()
  const session = await desk.open()
  const adapter = desk.adapterOf(bridge)
  for (const turns of [1, 2]) {
    const target = await found(adapter, isReachable)
    const wake = wakeOf()
    const { steps, end } = await attempt(adapter, target, wake)
    expect(steps).toEqual([expect.stringMatching(/^handing over by rewake#[0-9a-f]{16}$/), 'written'])
    expect(end).toMatchObject({ step: 'turn_started' })
    const { text } = await session.heard('turn', turns)
    expect(text).toMatch(/This is a notice, not an error\./)
    expect(text).toContain(`[Rouse ${wake.id}]`)
    expect(await session.heard('waiter', turns)).toMatchObject({ code: 2 })
    await session.act('finish')
  }
  expect(session.all('hook').filter(({ code }) => code !== 0)).toEqual([])
})

test('of several waiting hooks of a session the newest waits, and the others end with 0', async () => {
  await using desk = await openDesk(...byHooks)
  await using bridge = await desk.startBridge()
  const session = await desk.open()
  await found(desk.adapterOf(bridge), isReachable)
  await session.act('prompt', { text: 'go on' })
  await session.act('finish')
  expect(await session.heard('waiter')).toMatchObject({ event: 'SessionStart', code: 0, stderr: '' })
  await until(
    () => bridge.attached('claude').length,
    (count) => count === 1,
  )
  const before = await found(desk.adapterOf(bridge), isReachable)
  await session.act('clear')
  expect(await session.heard('waiter', 2)).toMatchObject({ event: 'Stop', code: 0, stderr: '' })
  const after = await found(desk.adapterOf(bridge), isReachable)
  expect(after.conversationId).not.toBe(before.conversationId)
  expect(await session.state()).toMatchObject({ waiters: 1 })
})

test('it says until when it waits, which is before it would be killed, and ends with its session', async () => {
  await using desk = await openDesk(...byHooks)
  await using bridge = await desk.startBridge()
  const session = await desk.open()
  await found(desk.adapterOf(bridge), isReachable)
  const [client] = bridge.attached('claude')
  const leftMs = Date.parse(client!.until!) - Date.now()
  expect(leftMs).toBeLessThan((rewakeSeconds - 5) * 1_000)
  expect(leftMs).toBeGreaterThan(0)
  await session.kill()
  await until(
    () => bridge.attached('claude').length,
    (count) => count === 0,
  )
})

test('one that is killed at its time-out leaves the session deaf, and the bridge knows', async () => {
  await using desk = await openDesk(...byHooks)
  await using bridge = await desk.startBridge()
  const session = await desk.open()
  const adapter = desk.adapterOf(bridge)
  await found(adapter, isReachable)
  await session.act('advance', { ms: rewakeSeconds * 1_000 })
  const target = await found(adapter, ({ route }) => route === undefined)
  expect((await attempt(adapter, target, wakeOf())).end).toMatchObject({ step: 'held' })
  expect(session.all('turn')).toEqual([])
})

test('where nobody is at the terminal it does not wait: `claude -p` would', async () => {
  await using desk = await openDesk(...byHooks)
  await using bridge = await desk.startBridge()
  const session = await desk.open({ isHeadless: true })
  expect(await session.heard('waiter')).toMatchObject({ code: 0, stderr: '' })
  expect(bridge.attached('claude')).toEqual([])
})
