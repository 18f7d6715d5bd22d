import { expect, test } from 'vitest'
import type { Logger } from '../../src/logger/logger.ts'
import { bearer, rawClient } from '../grpc/raw-client.ts'
import { startGateway } from '../support/gateway.ts'

test('a gateway that has too much work refuses agents on every front, says when to come back, and writes no line of a fault', async () => {
  const faults: string[] = []
  const log: Logger = { debug() {}, info() {}, warn() {}, error: (_fields, event) => void faults.push(event) }
  let isOver = false
  await using gateway = await startGateway({ overrides: { log, overload: { isOver: () => isOver } } })
  const donna = await gateway.addAgent('donna')
  const headers = { 'A2A-Version': '1.0' }
  const list = { jsonrpc: '2.0', id: 1, method: 'ListTasks' }
  isOver = true

  const rest = await gateway.call('GET', '/v1/whoami', undefined, donna)
  expect([rest.status, rest.body.code, rest.headers.get('retry-after')]).toEqual([503, 'overloaded', '5'])
  const rpc = await gateway.call('POST', '/agents/donna', list, { key: donna.key, headers })
  expect([rpc.status, rpc.headers.get('retry-after')]).toEqual([503, '5'])
  const mcp = await gateway.call('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' }, donna)
  expect([mcp.status, mcp.body.error.data.code]).toEqual([503, 'overloaded'])
  using grpc = rawClient(gateway.grpcTarget)
  const call = await grpc.unary('getTask', { tenant: 'agents/donna', id: 'x' }, bearer(donna.key))
  expect(call).toMatchObject({ code: 14 })
  expect(faults).toEqual([])

  // The operator looks after it, and the agents are served again when it has caught up.
  expect((await gateway.call('GET', '/v1/agents')).status).toBe(200)
  isOver = false
  expect((await gateway.call('GET', '/v1/whoami', undefined, donna)).status).toBe(200)
})
