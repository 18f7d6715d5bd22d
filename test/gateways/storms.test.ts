import { expect, test } from 'vitest'
import type { TestGateway } from '../support/gateway.ts'
import { besideStore } from '../support/store.ts'
import { startTwo } from './two-gateways.ts'

test('an agent that floods another one through all gateways silences nobody, and on the second one is a newcomer once', async () => {
  await using two = await startTwo({ ROUSE_STORM_MESSAGES: '80', ROUSE_MESSAGES_PER_MINUTE: '0' })
  await two.a.addAgent('donna')
  const mallory = await two.a.addAgent('mallory')
  const ines = await two.a.addAgent('ines')
  const mailTo = ({ call }: TestGateway, key: string) =>
    call('POST', '/v1/messages', { to: '@donna', subject: 'x' }, { key })
  /** Sends until it is refused. */
  const flood = async (gateway: TestGateway) => {
    let sent = 0
    while ((await mailTo(gateway, mallory.key)).status === 201) sent++
    return sent
  }
  expect([await flood(two.a), await flood(two.b), await flood(two.a)]).toEqual([80, 9, 0])
  expect((await mailTo(two.b, mallory.key)).body).toMatchObject({ code: 'recipient-storm', limitName: 'stormMessages' })
  for (const gateway of [two.a, two.b]) {
    expect((await mailTo(gateway, ines.key)).status).toBe(201)
    expect((await gateway.send('donna', 'x', { key: ines.key })).id).toBeDefined()
  }
})

test('gateways agree on who has sent the broadcasts of a storm: two agents silence themselves on all of them, and nobody else', async () => {
  await using two = await startTwo({ ROUSE_MESSAGES_PER_MINUTE: '0' })
  const mallory = await two.a.addAgent('mallory')
  const trent = await two.a.addAgent('trent')
  const ines = await two.a.addAgent('ines')
  const broadcast = ({ call }: TestGateway, { key }: { key: string }) =>
    call('POST', '/v1/messages', { to: '*', subject: 'x' }, { key })
  let sent = 0
  while ((await broadcast(sent % 2 === 0 ? two.a : two.b, sent % 2 === 0 ? mallory : trent)).status === 201) sent++
  expect(sent).toBe(61)
  for (const gateway of [two.a, two.b]) {
    for (const agent of [mallory, trent]) {
      expect((await broadcast(gateway, agent)).body).toMatchObject({ code: 'storm-breaker', limitName: 'stormTurns' })
    }
    expect((await broadcast(gateway, ines)).status).toBe(201)
  }
})

test('two agents that broadcast through all gateways at the same time get no more answers', async () => {
  await using two = await startTwo({ ROUSE_MESSAGES_PER_MINUTE: '0' })
  const mallory = await two.a.addAgent('mallory')
  const trent = await two.a.addAgent('trent')
  const ines = await two.a.addAgent('ines')
  const broadcast = async ({ call }: TestGateway, { key }: { key: string }) =>
    (await call('POST', '/v1/messages', { to: '*', subject: 'x' }, { key })).status
  const gateways = [two.a, two.b]
  const round = Array.from({ length: 6 }, () => gateways).flat()
  const storm = async () => {
    const sent = round.flatMap((gateway) => [broadcast(gateway, mallory), broadcast(gateway, trent)])
    return (await Promise.all(sent)).includes(201)
  }
  while (await storm()) {}
  expect(await besideStore(two.dataDir, "select turns from exchange where first_id = '*'")).toEqual([{ turns: 60 }])
  for (const gateway of gateways) expect(await broadcast(gateway, ines)).toBe(201)
})
