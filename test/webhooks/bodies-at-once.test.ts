import type { ServerResponse } from 'node:http'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BodiesAtOnce, largeBody } from '../../src/webhooks/push-channel.ts'
import { wireTo } from '../a2a/wire.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { advanceUntil } from '../wakes/acts.ts'

test('an agent has no more large bodies than there is room for, but always one, and all that ends is given back', () => {
  const max = 4 * largeBody
  const agents = ['a', 'b'] as const
  const act = fc.oneof(
    fc.record({
      kind: fc.constant('take'),
      agent: fc.constantFrom(...agents),
      size: fc.integer({ min: 0, max: 6 * largeBody }),
    }),
    fc.record({ kind: fc.constant('end'), nth: fc.integer({ min: 0, max: 20 }) }),
  )
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
      const bodies = new BodiesAtOnce(max)
      const open: { agent: string; size: number; done: () => void }[] = []
      const largeOf = (agent: string) => open.filter((one) => one.agent === agent && one.size >= largeBody)
      for (const one of acts) {
        if ('nth' in one) {
          for (const ended of open.splice(one.nth, 1)) {
            ended.done()
            // A second call changes nothing.
            ended.done()
          }
          continue
        }
        const { agent, size } = one
        const could = bodies.hasRoom(agent, size)
        const done = bodies.take(agent, size)
        expect(done !== undefined).toBe(could)
        if (size < largeBody || largeOf(agent).length === 0) expect(done).toBeDefined()
        if (done) open.push({ agent, size, done })
        for (const name of agents) {
          const large = largeOf(name)
          const held = large.reduce((sum, { size }) => sum + size, 0)
          expect(bodies.heldBy(name)).toBe(held)
          if (large.length > 1) expect(held).toBeLessThanOrEqual(max)
        }
      }
      for (const { done } of open) done()
      for (const name of agents) expect(bodies.heldBy(name)).toBe(0)
    }),
  )
})

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
