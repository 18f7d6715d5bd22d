import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { at, begin, noon, say, sessionOf, start } from './sessions.ts'

const older = { pid: 1, startedAt: at(noon) }
const newer = { pid: 2, startedAt: at(noon + 1000) }
const idle = { state: 'idle', source: 'bridge-daemon' }

// S1-8, D12
test('a report that names its process is for the session of that process alone', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const id = await begin(gateway, donna, newer)
  const foreign = await say(gateway, donna, { ...idle, process: older })
  expect(foreign).toMatchObject({ status: 404, body: { code: 'session-not-found' } })
  expect(foreign.body.detail).toContain(id)
  expect(await sessionOf(gateway, id)).toMatchObject({ presence: { state: 'unknown' } })
  expect(await say(gateway, donna, { ...idle, process: newer })).toMatchObject({ status: 200, body: { sessionId: id } })
  expect(await say(gateway, donna, { ...idle, process: { pid: 2 } })).toMatchObject({ status: 400 })
})

// S2-11, S2-14
test('a session that starts without taking mail leaves it for the next answer', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Hello', wakePolicy: 'next_turn' })
  const { body } = await start(gateway, donna, { ...newer, drain: false })
  expect(body.pendingSignals).toEqual([])
  expect((await say(gateway, donna, idle)).body.pendingSignals).toMatchObject([{ subject: 'Hello' }])
})

test('a harness says where it works and how it knows its conversation, and what it leaves out stays', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const id = await begin(gateway, donna, { ...newer, harness: { cwd: '/p', sessionId: 'one' } })
  expect(await sessionOf(gateway, id)).toMatchObject({ harness: { cwd: '/p', sessionId: 'one' } })
  await say(gateway, donna, { ...idle, harness: { sessionId: 'two' } })
  expect(await sessionOf(gateway, id)).toMatchObject({ harness: { cwd: '/p', sessionId: 'two' } })
  await gateway.call('PUT', `/v1/sessions/${id}`, { harness: { cwd: '/q' } }, { key: donna.key })
  expect(await sessionOf(gateway, id)).toMatchObject({ harness: { cwd: '/q', sessionId: 'two' } })
  expect(await say(gateway, donna, { ...idle, harness: { cwd: 'a\nb' } })).toMatchObject({ status: 400 })
})
