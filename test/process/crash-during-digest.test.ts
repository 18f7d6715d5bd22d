import { expect, test } from 'vitest'
import { startProcessGateway } from '../support/process-gateway.ts'
import { startReceiver } from '../support/receiver.ts'

// The range of a digest is fixed when it is leased: later events wait for the next one. Source: S1-34, S1-39.
test('a digest that a kill -9 interrupted is sent again over the same range', async () => {
  await using gateway = await startProcessGateway()
  await using receiver = await startReceiver(() => {})
  const donna = await gateway.addAgent('@donna')
  await gateway.subscribe(donna, receiver.url, { metadata: { coalesceWindow: 1, coalesceMode: 'window' } })
  const covered = []
  for (const text of ['one', 'two', 'three']) covered.push(await gateway.send(donna, text))
  const [interrupted] = await receiver.waitFor(1)
  const later = [await gateway.send(donna, 'four'), await gateway.send(donna, 'five')]

  await gateway.kill('SIGKILL')
  receiver.respond(200)
  await gateway.restart()

  const [, again, next] = await receiver.waitFor(3)
  expect(taskIds(interrupted!.body)).toEqual(covered.map(({ id }) => id))
  expect(again!.body).toMatchObject({
    eventType: 'wake/digest',
    eventId: interrupted!.body.eventId,
    logId: interrupted!.body.logId,
    prevLogId: null,
    payload: { ...interrupted!.body.payload, summary: expect.any(String) },
  })
  expect(next!.body).toMatchObject({ eventType: 'wake/digest', prevLogId: again!.body.logId })
  expect(next!.body.eventId).not.toBe(again!.body.eventId)
  expect(next!.body.payload.fromLogId).toBeGreaterThan(again!.body.payload.toLogId)
  expect(taskIds(next!.body)).toEqual(later.map(({ id }) => id))
})

function taskIds(body: { payload: { refs: { taskId: string }[] } }): string[] {
  return body.payload.refs.map(({ taskId }) => taskId)
}
