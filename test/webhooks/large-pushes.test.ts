import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { wireTo } from '../a2a/wire.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { advanceUntil } from '../wakes/acts.ts'

test('large pushes to receivers that do not answer wait for each other; small ones do not, and none is lost', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({
    env: { ROUSE_WEBHOOK_TIMEOUT: '30', ROUSE_BODY_MAX: '4194304' },
    overrides: { clock },
  })
  const held: ServerResponse[] = []
  await using receiver = await startReceiver((_push, answer) => void held.push(answer))
  await using other = await startReceiver()
  const mallory = await gateway.addAgent('mallory')
  const { rpc } = wireTo(gateway, mallory, mallory.key)
  const sendTo = async (url: string, configs: number, text: string): Promise<void> => {
    const { id } = await gateway.send('mallory', 'make', { key: mallory.key })
    for (let n = 0; n < configs; n++) {
      const { body } = await rpc('CreateTaskPushNotificationConfig', { taskId: id, id: `c${n}`, url })
      expect(body.error).toBeUndefined()
    }
    const artifact = { artifactId: 'a', parts: [{ text }] }
    expect((await gateway.call('POST', `/v1/tasks/${id}/artifacts`, { artifact }, mallory)).status).toBe(201)
  }
  const size = 3_900_000
  await sendTo(receiver.url, 20, 'x'.repeat(size))
  const fit = Math.floor((64 * 1024 * 1024) / size)
  await receiver.waitFor(fit)
  await sendTo(other.url, 3, 'small')
  await other.waitFor(3)
  expect(receiver.wakes).toHaveLength(fit)

  // Each that ends makes room for one of those that wait.
  receiver.respond(200)
  for (const answer of held) answer.end()
  await advanceUntil(
    clock,
    1_000,
    async () => new Set(receiver.wakes.map(({ headers }) => headers['webhook-id'])).size,
    (count) => count === 20,
  )
})
