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
