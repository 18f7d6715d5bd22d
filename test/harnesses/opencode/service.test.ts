import { chmodSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { messageIdOf } from '../../../src/harnesses/opencode/adapter/message-id.ts'
import { dataDirectory } from '../../support/data-directory.ts'
import { makeAdapter, makeTools, makeWake, never } from './bench.ts'
import { startFakeService } from './fake-service.ts'

async function openDesk() {
  const directory = dataDirectory()
  const service = await startFakeService(directory.path, directory.path)
  const adapter = makeAdapter(directory.path, { env: { XDG_STATE_HOME: directory.path } })
  return {
    service,
    adapter,
    session: async () => (await adapter.probe(never)).sessions[0]!,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      directory[Symbol.dispose]()
    },
  }
}

test('an idle conversation of the service gets one turn, and its events prove it', async () => {
  await using desk = await openDesk()
  const wake = makeWake()
  const session = await desk.session()
  expect(session).toMatchObject({ conversationId: 'ses_1', state: 'idle', route: 'service' })
  const { tools, done } = makeTools()
  expect(await desk.adapter.wake(session, wake, tools)).toEqual({
    step: 'turn_started',
    detail: 'session.execution.started',
  })
  expect(done).toEqual(['handing over: service', 'accepted'])
  expect(desk.service.turns).toEqual([messageIdOf(wake.id)])
})

test('a wake that was admitted before is not admitted again, and no turn is claimed for it', async () => {
  await using desk = await openDesk()
  const wake = makeWake()
  const session = await desk.session()
  await desk.adapter.wake(session, wake, makeTools().tools)
  const again = await desk.adapter.wake(session, wake, makeTools().tools)
  expect(again).toMatchObject({ step: 'written', detail: expect.stringContaining('ConflictError') })
  expect(desk.service.turns).toHaveLength(1)
})

test('a running turn holds a wake', async () => {
  await using desk = await openDesk()
  const session = await desk.session()
  desk.service.running.add('ses_1')
  expect(await desk.adapter.wake(session, makeWake(), makeTools().tools)).toMatchObject({ step: 'held' })
  expect(desk.service.requests.filter((request) => request.startsWith('POST'))).toEqual([])
})

test('what is still in the inbox waits, and what never was there is absent', async () => {
  await using desk = await openDesk()
  const session = await desk.session()
  desk.service.settings.starts = false
  const wake = makeWake()
  const { tools, stop } = makeTools({ report: () => stop() })
  await expect(desk.adapter.wake(session, wake, tools)).rejects.toThrow('stopped')
  expect(await desk.adapter.find(session, wake.id, never)).toBe('waits')
  expect(await desk.adapter.find(session, makeWake().id, never)).toBe('absent')
})

test('a file that others can read is a remark, and its password goes nowhere', async () => {
  await using desk = await openDesk()
  chmodSync(desk.service.path, 0o644)
  const { sessions, remarks } = await desk.adapter.probe(never)
  expect([sessions, remarks]).toEqual([[], [expect.stringContaining('is not only yours')]])
  expect(desk.service.requests).toEqual([])
})

test('a file that a killed service has left is stale', async () => {
  await using desk = await openDesk()
  const session = await desk.session()
  desk.service.settings.pid = 1
  expect((await desk.adapter.probe(never)).sessions).toEqual([])
  expect(await desk.adapter.wake(session, makeWake(), makeTools().tools)).toMatchObject({ step: 'held' })
  expect(desk.service.turns).toEqual([])
})

test('a file that names another machine, or is damaged, is a remark', async () => {
  await using desk = await openDesk()
  writeFileSync(desk.service.path, JSON.stringify({ url: 'http://example.com', pid: 1, password: 'x' }))
  expect((await desk.adapter.probe(never)).remarks).toEqual([expect.stringContaining('is not this machine')])
  writeFileSync(desk.service.path, '{')
  expect((await desk.adapter.probe(never)).remarks).toEqual([expect.stringContaining('is not what OpenCode 2 writes')])
})
