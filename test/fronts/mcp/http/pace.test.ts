import { afterEach, expect, test, vi } from 'vitest'
import { companyLimits } from '../../../../src/gateway-limits.ts'
import { Pace } from '../../../../src/registry/shares/pace.ts'
import { startGateway } from '../../../support/gateway.ts'
import { beginSession, ping, post } from './wire.ts'

const { mcpCost } = companyLimits

afterEach(() => void vi.restoreAllMocks())

test('while others are active, each MCP message counts as three requests for the pace of its agent', async () => {
  const counted = vi.spyOn(Pace.prototype, 'countFurther')
  await using gateway = await startGateway()
  const mallory = await gateway.addAgent('mallory')
  const bob = await gateway.addAgent('bob')
  const session = await beginSession(gateway, mallory, { protocolVersion: '2025-03-26' })
  const further = async (body: unknown): Promise<number> => {
    counted.mockClear()
    await gateway.call('GET', '/v1/whoami', undefined, { key: bob.key })
    expect((await post(gateway, mallory, body, session)).status).toBe(200)
    return counted.mock.calls.reduce((sum, [, more]) => sum + more, 0)
  }
  expect(await further(ping)).toBe(mcpCost.max - 1)
  // The request itself counts as one of them.
  expect(await further([ping, { ...ping, id: 3 }, { ...ping, id: 4 }])).toBe(3 * mcpCost.max - 1)
})
