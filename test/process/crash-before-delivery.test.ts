import { expect, test } from 'vitest'
import { startProcessGateway } from '../support/process-gateway.ts'
import { expectOrderlyWakes, firstArrivals } from '../support/process-ledger.ts'
import { startReceiver } from '../support/receiver.ts'

const taskCount = 20

test('kill -9 between accept and delivery loses nothing that was acknowledged', async () => {
  await using gateway = await startProcessGateway()
  await using receiver = await startReceiver(() => {}) // takes the request and never answers
  const donna = await gateway.addAgent('@donna')
  const subscription = await gateway.subscribe(donna, receiver.url)
  const tasks = []
  for (let i = 1; i <= taskCount; i++) tasks.push(await gateway.send(donna, `task ${i}`))
  const [inFlight] = await receiver.waitFor(1)

  expect(await gateway.kill('SIGKILL')).toMatchObject({ signal: 'SIGKILL' })
  receiver.respond(200)
  await gateway.restart()

  const wakes = await receiver.waitFor(1 + taskCount)
  expect(wakes[1]!.body.eventId).toBe(inFlight!.body.eventId)
  expect(firstArrivals(wakes).map(({ body }) => body.payload.taskId)).toEqual(tasks.map(({ id }) => id))
  expectOrderlyWakes(wakes)
  for (const { id } of tasks) expect(await gateway.call('GET', `/v1/tasks/${id}`)).toMatchObject({ status: 200 })
  const { body } = await gateway.call('GET', `/v1/wake-subscriptions/${subscription.id}`)
  expect(body).toMatchObject({ status: 'active', failedInARow: 0 })
})
