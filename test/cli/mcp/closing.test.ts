import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { startGateway } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'
import { startMcpPair } from './start-mcp-pair.ts'

const whoami = { name: 'whoami', arguments: {} }

test('a connection with a stream of events and many calls ends while the gateway lives on', async () => {
  await using gateway = await startGateway()
  const { key } = await gateway.addAgent('donna')
  const { client, close } = await startMcpPair('legacy', { url: gateway.url, key }, 'claude-code')
  await client.subscribeResource({ uri: 'rouse://inbox/@donna' })
  await client.callTool(whoami)
  const calls = Array.from({ length: 50 }, () => client.callTool(whoami).catch(() => undefined))
  calls.push(client.callTool({ name: 'wait_for_messages', arguments: { timeoutSeconds: 600 } }).catch(() => undefined))
  await close()
  await Promise.all(calls)
  expect((await gateway.call('GET', '/v1/sessions')).body.sessions).toEqual([])
})

test('a gateway that takes requests and never answers does not keep the process', async () => {
  let requests = 0
  const server = createServer(() => void requests++)
  server.listen(0, '127.0.0.1')
  await until(
    () => server.listening,
    (is) => is,
  )
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { client, close } = await startMcpPair('legacy', { url, key: 'k' }, 'claude-code')
  const call = client.callTool(whoami).catch(() => undefined)
  await until(
    () => requests,
    (count) => count > 0,
  )
  await close()
  await call
  server.closeAllConnections()
  server.close()
})
