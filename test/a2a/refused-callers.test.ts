import { CancelTaskRequest, SendMessageRequest } from '@a2a-js/sdk'
import { expect, test } from 'vitest'
import { bearer, rawClient } from '../grpc/raw-client.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { sixWays, ways } from './six-ways.ts'
import { legacy, sending, wireTo } from './wire.ts'

async function start() {
  const gateway = await startGateway()
  const donna = await gateway.addAgent('donna', { contactPolicy: 'listed' })
  const mike = await gateway.addAgent('mike')
  return { gateway, donna, mike }
}

/** The status of a refusal over JSON-RPC and HTTP+JSON. */
async function refusedAt(gateway: TestGateway, donna: TestAgent, who: TestAgent) {
  const wire = wireTo(gateway, donna, who.key)
  return {
    rpc: await wire.rpc('SendMessage', sending()),
    old: await wire.rpc('message/send', { message: legacyMessage() }, legacy),
    rest: await wire.rest('POST', '/message:send', sending()),
  }
}

const legacyMessage = () => ({ kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'x' }] })

// Specification §3.3.2
test('who is not on the contact list is refused as a caller that is not allowed, over each binding', async () => {
  const { gateway, donna, mike } = await start()
  await using _gateway = gateway
  const { rpc, old, rest } = await refusedAt(gateway, donna, mike)
  for (const { status, body } of [rpc, old]) {
    expect(status).toBe(403)
    expect(body).toMatchObject({ jsonrpc: '2.0', error: { code: -32603, data: [{ reason: 'FORBIDDEN' }] } })
  }
  expect(rest.status).toBe(403)
  expect(rest.body.error).toMatchObject({ status: 'PERMISSION_DENIED', details: [{ reason: 'FORBIDDEN' }] })
  using six = sixWays(gateway, donna, mike)
  for (const way of ways) expect((await six[way]!({})).taskId, way).toBeUndefined()
  using client = rawClient(gateway.grpcTarget)
  const request = { tenant: 'agents/donna', ...sending() }
  const answer = await client.unary('sendMessage', SendMessageRequest.fromJSON(request), bearer(mike.key))
  expect(answer).toMatchObject({ code: 7 })
})

// Specification §3.3.2
test('an assignee that cancels is refused as a caller that is not allowed', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const { id } = await gateway.send('donna', 'hello', { key: mike.key })
  const wire = wireTo(gateway, donna, donna.key)
  expect((await wire.rpc('CancelTask', { id })).status).toBe(403)
  expect((await wire.rest('POST', `/tasks/${id}:cancel`, {})).body.error.status).toBe('PERMISSION_DENIED')
  using client = rawClient(gateway.grpcTarget)
  const request = CancelTaskRequest.fromJSON({ tenant: 'agents/donna', id })
  expect(await client.unary('cancelTask', request, bearer(donna.key))).toMatchObject({ code: 7 })
})
