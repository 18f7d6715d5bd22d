import { expect, test } from 'vitest'
import { limitedFileSize } from '../faults/little-room.ts'
import { startProcessGateway } from '../support/process-gateway.ts'
import { until } from '../support/until.ts'

test('a gateway whose disk is full is not ready, and is again when there is room', async ({ skip }) => {
  using room = limitedFileSize()
  if (!room) return skip('This system cannot limit the size of files.')
  await using gateway = await startProcessGateway({}, { dataDir: room.dataDir })
  const readyz = () => gateway.call('GET', '/readyz')
  expect((await readyz()).status).toBe(200)
  room.fill(gateway)
  let count = 0
  await until(
    () => gateway.call('POST', '/v1/agents', { handle: `@filler${++count}`, description: 'x'.repeat(2_000) }),
    ({ status }) => status === 503,
  )
  const full = await until(readyz, ({ status }) => status === 503)
  expect(full.body).toMatchObject({ status: 'not-ready', store: true, writes: false })
  expect((await gateway.call('GET', '/healthz')).status).toBe(200)
  room.free(gateway)
  const free = await until(readyz, ({ status }) => status === 200)
  expect(free.body).toMatchObject({ status: 'ready', store: true, writes: true, dispatcher: true, clock: true })
  const { stderr } = await gateway.kill('SIGTERM')
  expect(stderr).toMatch(/"gateway\.unready"[\s\S]*"gateway\.ready"/)
})
