import { expect, test } from 'vitest'
import { companyLimits } from '../../../../src/gateway-limits.ts'
import { FakeClock } from '../../../support/fake-clock.ts'
import { startGateway } from '../../../support/gateway.ts'
import { until } from '../../../support/until.ts'
import { beginSession, ping, post } from './wire.ts'

const { mcpCost, paced, pacedAtOnce } = companyLimits
const atOnce = paced.max * pacedAtOnce.max
/** So often the same number is seen before it counts as the last one. */
const looks = 20

test('while others are active, an MCP message counts as three requests for the pace of its agent', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const mallory = await gateway.addAgent('mallory')
  const bob = await gateway.addAgent('bob')
  const session = await beginSession(gateway, mallory)
  await gateway.call('GET', '/v1/whoami', undefined, { key: bob.key })
  let answered = 0
  let isOver = false
  const lane = (async () => {
    while (!isOver) {
      await post(gateway, mallory, ping, session)
      answered++
    }
  })()
  let seen = 0
  let before = -1
  const last = await until(
    () => {
      seen = answered === before ? seen + 1 : 0
      before = answered
      return answered
    },
    () => seen >= looks,
  )
  expect(last).toBeGreaterThanOrEqual(Math.floor(atOnce / mcpCost.max) - 2)
  expect(last).toBeLessThanOrEqual(Math.ceil(atOnce / mcpCost.max) + 1)
  isOver = true
  clock.advance(5_000)
  await lane
})
