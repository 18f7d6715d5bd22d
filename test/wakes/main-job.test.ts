import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'

test('a task wakes its assignee, is worked through REST, and its states arrive in order', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  await gateway.subscribe(donna, receiver.url, { harnessTargetMetadata: { includeOwn: true } })

  const task = await gateway.send('donna', 'please review')
  await receiver.waitFor(1)
  expect((await gateway.move(donna, task.id, 'working')).status).toBe(200)
  const done = await gateway.move(donna, task.id, 'completed', {
    artifacts: [{ name: 'review', parts: [{ text: 'fine' }] }],
  })
  expect(done.body).toMatchObject({ state: 'completed', artifacts: [{ name: 'review' }] })

  const wakes = await receiver.waitFor(3)
  expect(wakes.map(({ body }) => [body.payload.previousState, body.payload.newState])).toEqual([
    [null, 'Submitted'],
    ['Submitted', 'Working'],
    ['Working', 'Completed'],
  ])
  expect(wakes.map(({ body }) => body.prevLogId)).toEqual([null, wakes[0]!.body.logId, wakes[1]!.body.logId])
})
