import { expect, test } from 'vitest'
import type { TestGateway } from '../support/gateway.ts'
import { startTwo } from './two-gateways.ts'

test('an agent that floods another one through all gateways silences nobody, and on the second one is a newcomer once', async () => {
  await using two = await startTwo({ ROUSE_STORM_MESSAGES: '80', ROUSE_MESSAGES_PER_MINUTE: '0' })
  await two.a.addAgent('donna')
  const mallory = await two.a.addAgent('mallory')
  const ines = await two.a.addAgent('ines')
  const mailTo = ({ call }: TestGateway, key: string) =>
    call('POST', '/v1/messages', { to: '@donna', subject: 'x' }, { key })
  const ursa = await two.a.addAgent('ursa')
  /** Sends until it is refused. */
  const flood = async (gateway: TestGateway) => {
    let sent = 0
    while ((await mailTo(gateway, mallory.key)).status === 201) sent++
    return sent
  }
  // One becomes free in 7.5 s.
  const [first, second, again] = [await flood(two.a), await flood(two.b), await flood(two.a)]
  expect(first).toBeGreaterThanOrEqual(80)
  expect(first).toBeLessThanOrEqual(88)
  expect(second).toBeLessThanOrEqual(3)
  expect(again).toBeLessThanOrEqual(2)
  expect((await mailTo(two.b, mallory.key)).body).toMatchObject({ code: 'recipient-storm', limitName: 'stormMessages' })
  for (const gateway of [two.a, two.b]) {
    expect((await mailTo(gateway, ines.key)).status).toBe(201)
    expect((await gateway.send('donna', 'x', { key: ursa.key })).id).toBeDefined()
  }
})

test('an agent that broadcasts through all gateways at the same time silences itself on all of them, and nobody else', async () => {
  await using two = await startTwo({ ROUSE_MESSAGES_PER_MINUTE: '0', ROUSE_STORM_TURNS: '20' })
  const mallory = await two.a.addAgent('mallory')
  const ines = await two.a.addAgent('ines')
  const broadcast = async ({ call }: TestGateway, { key }: { key: string }) =>
    (await call('POST', '/v1/messages', { to: '*', subject: 'x' }, { key })).status
  const gateways = [two.a, two.b]
  const atOnce = 4
  const round = Array.from({ length: atOnce }, () => gateways).flat()
  let sent = 0
  for (let isOver = false; !isOver; ) {
    const accepted = (await Promise.all(round.map((gateway) => broadcast(gateway, mallory)))).filter((s) => s === 201)
    sent += accepted.length
    isOver = accepted.length === 0
  }
  // Each gateway may accept what arrives in the same moment as at the other one.
  expect(sent).toBeGreaterThanOrEqual(20)
  expect(sent).toBeLessThanOrEqual(20 + atOnce)
  for (const gateway of gateways) {
    expect(await broadcast(gateway, mallory)).toBe(429)
    expect(await broadcast(gateway, ines)).toBe(201)
  }
})

test('what an agent sends through one gateway counts on the other, over A2A and mail', async () => {
  await using two = await startTwo({ ROUSE_MESSAGES_PER_MINUTE: '6' })
  await two.a.addAgent('donna')
  const lola = await two.a.addAgent('lola')
  for (let n = 0; n < 3; n++) await two.a.send('donna', 'x', lola)
  for (let n = 0; n < 3; n++)
    expect((await two.b.call('POST', '/v1/messages', { to: '@donna', subject: 'x' }, lola)).status).toBe(201)
  await expect(two.b.send('donna', 'x', lola)).rejects.toThrow('RATE_LIMITED')
  // The first one hears of it with what it counts next.
  await two.a.send('donna', 'x', lola)
  await expect(two.a.send('donna', 'x', lola)).rejects.toThrow('RATE_LIMITED')
})
