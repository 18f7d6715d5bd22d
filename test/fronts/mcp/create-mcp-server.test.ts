import { expect, test } from 'vitest'
import { GatewayUnreachable } from '../../../src/fronts/mcp/call-api.ts'
import { instructionsFor } from '../../../src/fronts/mcp/create-mcp-server.ts'
import { tools } from '../../../src/fronts/mcp/tools/table.ts'
import { startGateway } from '../../support/gateway.ts'
import { fetchCallApi } from './fetch-call-api.ts'
import { connectMcp } from './mcp-client.ts'

test('a tool answers with structured content, and with the same as text', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const client = await connectMcp(fetchCallApi(gateway.url, donna.key), '@donna')
  const result = await client.callTool({ name: 'whoami' })
  expect(result.isError).toBeUndefined()
  expect(result.structuredContent).toMatchObject({ identity: '@donna', project: 'default' })
  expect(result.content).toEqual([{ type: 'text', text: expect.stringContaining('You are @donna') }])
})

test('a gateway that cannot be reached is a result that says so', async () => {
  const client = await connectMcp(async () => {
    throw new GatewayUnreachable('http://127.0.0.1:1', 'ECONNREFUSED')
  })
  const result = await client.callTool({ name: 'whoami' })
  expect(result).toMatchObject({
    isError: true,
    content: [
      {
        text: expect.stringMatching(
          /http:\/\/127\.0\.0\.1:1 cannot be reached: ECONNREFUSED.* The call was not carried out\./,
        ),
      },
    ],
  })
})

test('the instructions name every tool and fit into what harnesses keep of them', () => {
  const text = instructionsFor('@a-handle-that-is-long')
  for (const { name } of tools) expect(text, name).toContain(name)
  expect(Buffer.byteLength(text)).toBeLessThan(2_048)
})
