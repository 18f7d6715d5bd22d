import { expect, test } from 'vitest'
import { startGateway } from '../../../support/gateway.ts'
import { beginSession, post } from './wire.ts'

test.each([
  ['resources/read', undefined, /^params: /],
  ['resources/read', { uri: {} }, /^params\.uri: /],
  ['resources/subscribe', { uri: 7 }, /^params\.uri: /],
  ['resources/subscribe', { uri: 'file:///etc/passwd' }, /^uri: begins with rouse:/],
  ['resources/unsubscribe', { uri: `rouse://${'x'.repeat(3_000)}` }, /^uri: is longer than/],
  ['tools/list', { cursor: 1 }, /^params\.cursor: /],
  ['tools/call', { name: 'whoami', arguments: [1] }, /^params\.arguments: /],
  ['tools/call', { arguments: {} }, /^params\.name: /],
  ['prompts/get', { name: 'hand-over', arguments: { task: 1 } }, /^params\.arguments\.task: /],
  ['logging/setLevel', { level: 'loud' }, /^params\.level: /],
])('%s with the parameters %j is refused with the name of the field', async (method, params, message) => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const session = await beginSession(gateway, donna)
  const answer = await post(gateway, donna, { jsonrpc: '2.0', id: 'a', method, params }, session)
  expect(answer).toMatchObject({ status: 200, body: { id: 'a', error: { code: -32602 } } })
  expect(answer.body.error.message).toMatch(message)
})
