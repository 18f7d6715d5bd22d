import { expect } from 'vitest'
import { sixWays, ways } from '../a2a/six-ways.ts'
import type { TestAgent, TestGateway } from '../support/gateway.ts'
import { callTool } from './mcp/http/call-tool.ts'
import { initialize, post } from './mcp/http/wire.ts'

const mail = { to: '@donna', subject: 'please' }

/** Two agents who write over every front that there is, and what they get while the store takes no writes, and when it does. */
export async function writersOf(gateway: TestGateway) {
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  return {
    refused: () => expectRefused(gateway, donna, lola),
    served: () => expectServed(gateway, donna, lola),
  }
}

async function expectRefused(gateway: TestGateway, donna: TestAgent, lola: TestAgent): Promise<void> {
  using peers = sixWays(gateway, donna, lola)
  const [rest, tool, session, ...sent] = await Promise.all([
    gateway.call('POST', '/v1/messages', mail, { key: lola.key }),
    callTool(gateway, lola.key, 'send_message', mail),
    post(gateway, lola, initialize()),
    ...ways.map((way) => peers[way]!({})),
  ])
  expect([rest.status, rest.headers.get('retry-after')]).toEqual([503, '1'])
  expect(rest.body).toMatchObject({ code: 'storage-unavailable', detail: expect.stringMatching(/nothing was/i) })
  expect(tool).toMatchObject({ isError: true, text: expect.stringContaining('storage-unavailable') })
  expect([session.status, session.body.error.data.code]).toEqual([503, 'storage-unavailable'])
  for (const { refusal, isTheirs } of sent) {
    expect(refusal).toMatch(/nothing was/i)
    expect(isTheirs).toBe(false)
  }
}

async function expectServed(gateway: TestGateway, donna: TestAgent, lola: TestAgent): Promise<void> {
  using peers = sixWays(gateway, donna, lola)
  const sent = await Promise.all(ways.map((way) => peers[way]!({})))
  for (const { taskId } of sent) expect(taskId).toBeTruthy()
  expect((await callTool(gateway, lola.key, 'send_message', mail)).isError).toBe(false)
  expect((await post(gateway, lola, initialize())).status).toBe(200)
}
