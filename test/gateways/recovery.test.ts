import { expect, test } from 'vitest'
import { asBridge, beginSilent, recoveryOf, report } from '../recovery/acts.ts'
import { besideStore } from '../support/store.ts'
import { until } from '../support/until.ts'
import { startTwo } from './two-gateways.ts'

// S3-9
test('an order that two bridges of one agent see at two gateways is begun once', async () => {
  await using two = await startTwo()
  const donna = await two.a.addAgent('donna')
  await two.a.call('PATCH', '/v1/gate', { restarts: 'enabled' })
  await report(two.a, donna)
  const order = "update recovery set epoch = 4, mode = 'restart', since = bridge_at, evidence = '{}'"
  await besideStore(two.dataDir, order)
  const bridges = [two.a, two.b]
  const orders = await Promise.all(bridges.map((gateway) => report(gateway, donna)))
  expect(orders.map((answer) => answer.order?.epoch)).toEqual([4, 4])
  const acts = Array.from({ length: 10 }, (_, n) =>
    asBridge(bridges[n % 2]!, donna, 'POST', '/v1/recovery/acts', { epoch: 4 }),
  )
  const statuses = (await Promise.all(acts)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(1)
  expect(statuses.filter((status) => status === 409)).toHaveLength(9)
  // The gateway that began it is gone; the other one knows of it.
  await two.a.stop()
  expect((await report(two.b, donna)).order).toBe(null)
  expect(await recoveryOf(two.b, 'donna')).toMatchObject({ inFlight: { epoch: 4, begunAt: expect.any(String) } })
})

test('what a session of one gateway does is a sign of life for the other', async () => {
  await using two = await startTwo()
  const donna = await two.a.addAgent('donna')
  await beginSilent(two.a, donna)
  await two.b.call('GET', '/v1/inbox', undefined, { key: donna.key })
  const acted = 'select acted_at as at from session'
  await until(
    async () => Number((await besideStore(two.dataDir, acted))[0]!.at),
    (at) => at > 0,
  )
})
