import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { inboxLine, writeToInbox } from '../../../src/harnesses/claude/adapter/inbox.ts'
import { wakeOf } from '../../bridge/local/desk.ts'
import { until } from '../../support/until.ts'
import { attempt, found, openDesk } from './desk.ts'

const allowed = { inbox: true }

test('the inbox is used where its user has allowed it, once the hooks have said a mode that delivers', async () => {
  await using desk = await openDesk()
  await using bridge = await desk.startBridge()
  const session = await desk.open()
  const adapter = desk.adapterOf(bridge, allowed)
  const early = await found(adapter)
  expect(early.remark).toContain('its hooks have not said its permission mode yet')
  await session.act('prompt', { text: 'go on' })
  await session.act('finish')
  const target = await found(adapter, ({ route, state }) => route === 'inbox' && state === 'idle')
  const wake = wakeOf()
  const { steps, end } = await attempt(adapter, target, wake)
  expect(steps).toEqual(['handing over by inbox', 'written'])
  expect(end).toMatchObject({ step: 'turn_started' })
  expect(await session.heard('turn')).toMatchObject({ kind: 'peer', text: wake.text })
  expect(await desk.adapterOf(bridge).probe()).toMatchObject({ sessions: [{ remark: expect.any(String) }] })
})

test('a session that may do everything is not written to: it would hold the wake, and drop it in silence', async () => {
  await using desk = await openDesk()
  await using bridge = await desk.startBridge()
  const session = await desk.open({ mode: 'bypassPermissions' })
  const adapter = desk.adapterOf(bridge, allowed)
  await session.act('prompt', { text: 'go on' })
  await session.act('finish')
  const target = await found(adapter, ({ remark }) => remark?.includes('bypassPermissions') === true)
  expect((await attempt(adapter, target, wakeOf())).end).toMatchObject({ step: 'held' })
  expect(await session.state()).toMatchObject({ held: 0 })
  // The inbox itself would hold it.
  const { inboxPath } = { inboxPath: `${desk.home.at('sockets')}/${session.pid}.sock` }
  await writeToInbox(inboxPath, wakeOf(), '/run/bridge.sock')
  await until(session.state, ({ held }) => held === 1)
  await session.act('advance', { ms: 5 * 60_000 })
  expect(await session.state()).toMatchObject({ held: 0 })
  expect(session.all('turn')).toEqual([])
})

test('a version without an inbox says so', async () => {
  await using desk = await openDesk()
  await using bridge = await desk.startBridge()
  await desk.open({ version: '2.1.197' })
  const target = await found(desk.adapterOf(bridge, allowed))
  expect(target.remark).toMatch(/^Version 2\.1\.197 has no inbox\./)
})

test('a repetition is dropped without a word, so the proof is what has to say it', async () => {
  await using desk = await openDesk()
  await using bridge = await desk.startBridge()
  const session = await desk.open()
  const adapter = desk.adapterOf(bridge, allowed)
  await session.act('prompt', { text: 'go on' })
  await session.act('finish')
  const wake = wakeOf()
  const target = await found(adapter, ({ route, state }) => route === 'inbox' && state === 'idle')
  expect((await attempt(adapter, target, wake)).end).toMatchObject({ step: 'turn_started' })
  await session.heard('turn')
  await session.act('finish')
  const path = `${desk.home.at('sockets')}/${session.pid}.sock`
  await writeToInbox(path, wake, bridge.address)
  await session.heard('repetition')
  expect(session.all('turn')).toHaveLength(1)
})

test('one line has the sender, the id of the wake as a UUID, and no mode', () => {
  const wake = wakeOf('01ARZ3NDEKTSV4RRFFQ69G5FAV')
  const { message, ...envelope } = JSON.parse(inboxLine(wake, '/run/a"b.sock'))
  expect(envelope).toEqual({
    msgV: 1,
    msg_id: '01563e3a-b5d3-d676-4c61-efb99302bd5b',
    type: 'user',
    priority: 'next',
    from: 'uds:/run/a"b.sock',
  })
  expect(message.content).toBe(
    `<cross-session-message from="uds:/run/a&quot;b.sock" from-name="rouse">\n${wake.text}\n</cross-session-message>`,
  )
  expect(message.content).not.toContain('from-mode')
})

test('an inbox that nobody reads has not taken the wake', async () => {
  await using desk = await openDesk()
  const path = desk.home.at('sockets/gone.sock')
  const server = createServer()
  await new Promise<void>((listening) => server.listen(path, listening))
  await new Promise((closed) => server.close(closed))
  await expect(writeToInbox(path, wakeOf(), '/run/bridge.sock')).rejects.toThrow()
})
