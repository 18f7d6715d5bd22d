import { expect, test } from 'vitest'
import { liftRates, type TestAgent } from '../support/gateway.ts'
import { counters, countersOfTasks } from '../tasks/counters.ts'
import { startTwo } from './two-gateways.ts'

test('several gateways count what they change at the same time, and none waits for another to give up', async () => {
  await using two = await startTwo()
  const gateways = [two.a, two.b]
  await liftRates(two.a)
  const team: TestAgent[] = []
  for (const handle of ['donna', 'mike', 'lola']) team.push(await two.a.addAgent(handle))
  const work = Array.from({ length: 120 }, async (_, n) => {
    const [from, to] = [team[n % 3]!, team[(n + 1 + (n % 2)) % 3]!]
    const { id } = await gateways[n % 2]!.send(to.handle.slice(1), `task ${n}`, { key: from.key })
    const moved = await gateways[(n >> 1) % 2]!.move(to, id, n % 3 === 0 ? 'completed' : 'working')
    expect(moved.status).toBe(200)
  })
  await Promise.all(work)
  for (const { call } of gateways) {
    const answers = ['', '&state=submitted', '&state=working', '&state=completed'].map((filter) =>
      call('GET', `/v1/tasks?pageSize=1${filter}`),
    )
    const totals = (await Promise.all(answers)).map(({ body }) => body.totalSize)
    expect(totals).toEqual([120, 0, 80, 40])
  }
  expect(await counters(two.dataDir)).toEqual(await countersOfTasks(two.dataDir))
})
