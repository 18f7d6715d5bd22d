import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { connect, dialects } from './connect.ts'

const text = 'x'.repeat(2_000_000)

/** Agents of a project where a large answer is followed by a long wait; bob shows up whenever mallory reads. */
async function startCrowded(gateway: TestGateway): Promise<{ mallory: TestAgent; crowd: () => Promise<unknown> }> {
  await gateway.call('PATCH', '/v1/projects/default', { limits: { largeMegabytesPerMinute: 1 } })
  const mallory = await gateway.addAgent('mallory')
  const bob = await gateway.addAgent('bob')
  return { mallory, crowd: () => gateway.call('GET', '/v1/whoami', undefined, { key: bob.key }) }
}

/** A task with a large message and a large artifact, from the operator: that counts for no agent. */
async function startLarge(gateway: TestGateway): Promise<string> {
  const { id } = await gateway.send('mallory', text)
  const added = await gateway.call('POST', `/v1/tasks/${id}/artifacts`, { artifact: { parts: [{ text }] } })
  expect(added.status).toBe(201)
  return id
}

const paths = [
  (id: string) => `/v1/tasks/${id}`,
  (id: string) => `/v1/tasks/${id}/messages`,
  (id: string) => `/v1/tasks/${id}/artifacts`,
  (id: string) => `/agents/mallory/tasks/${id}`,
]

test.each(paths)(
  'large tasks that are read by paths of their own share what their reader may read: %s',
  async (path) => {
    await using gateway = await startGateway({ overrides: { clock: new FakeClock() } })
    const { mallory, crowd } = await startCrowded(gateway)
    const ids = [await startLarge(gateway), await startLarge(gateway)]
    const statuses: number[] = []
    const read = async (id: string) => {
      await crowd()
      const headers = { 'a2a-version': '1.0' }
      statuses.push((await gateway.call('GET', path(id), undefined, { key: mallory.key, headers })).status)
    }
    for (const id of ids) await read(id)
    expect(statuses).toEqual([200, 429])
    // What is small is still read.
    const small = await gateway.send('mallory', 'small')
    await read(small.id)
    expect(statuses.at(-1)).toBe(200)
  },
)

test('who is alone reads as many as it likes', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const { mallory } = await startCrowded(gateway)
  const ids = [await startLarge(gateway), await startLarge(gateway)]
  // The operator, who sent them, counts as active for a second.
  clock.advance(2_000)
  for (const id of ids) {
    expect((await gateway.call('GET', `/v1/tasks/${id}`, undefined, { key: mallory.key })).status).toBe(200)
  }
})

test.each(dialects)(
  'a large task over A2A $version $binding is counted before the next one is read',
  async (dialect) => {
    const clock = new FakeClock()
    await using gateway = await startGateway({ overrides: { clock } })
    const { mallory, crowd } = await startCrowded(gateway)
    const ids = [await startLarge(gateway), await startLarge(gateway)]
    const client = await connect(gateway, mallory, mallory.key, dialect)
    const read = async (id: string) => {
      await crowd()
      let answer: string | undefined
      client.getTask({ tenant: '', id, historyLength: undefined }).then(
        (task) => (answer = task.id),
        (error: Error) => (answer = error.message),
      )
      // A refusal of what is known to be large comes up to a second later.
      return until(
        () => {
          clock.advance(10)
          return answer
        },
        (given) => given !== undefined,
      )
    }
    expect(await read(ids[0]!)).toBe(ids[0])
    expect(await read(ids[1]!)).toContain('largeMegabytesPerMinute')
  },
)
