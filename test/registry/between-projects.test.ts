import { expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'

async function startWithRed(): Promise<{ gateway: TestGateway; spy: TestAgent }> {
  const gateway = await startGateway()
  await gateway.call('POST', '/v1/projects', { project: 'red' })
  return { gateway, spy: await gateway.addAgent('spy', { project: 'red' }) }
}
const lastLogId = async (gateway: TestGateway) => (await gateway.call('GET', '/v1/events')).body.lastLogId as number

// The attack: grant and revoke, again and again, towards an agent of another project.
test('a grant across projects does not write to the other project’s log without permission, and wakes no agent there', async () => {
  const { gateway, spy } = await startWithRed()
  await using _closing = gateway
  await using receiver = await startReceiver()
  const bob = await gateway.addAgent('bob')
  await gateway.subscribe(bob, receiver.url, { trigger: 'PERMISSION_GRANTED' })
  const head = await lastLogId(gateway)
  for (let i = 0; i < 20; i++) {
    const input = { grantee: 'default:@bob', scope: 'CAN_REPLY_TO' }
    const { permissionId } = (await gateway.call('POST', '/v1/permissions', input, spy)).body
    const seen = (await gateway.call('GET', '/v1/permissions', undefined, bob)).body.permissions
    expect(seen).toMatchObject([{ permissionId, grantor: 'red:@spy' }])
    expect((await gateway.call('DELETE', `/v1/permissions/${permissionId}`, undefined, spy)).status).toBe(204)
  }
  expect(await lastLogId(gateway)).toBe(head)
  const red = await gateway.call('GET', '/v1/events', undefined, spy)
  expect(red.status).toBe(200)
  // The operator of both projects is named as before.
  await gateway.call('POST', '/v1/permissions', { grantee: '@bob', scope: 'CAN_READ_MEMORIES_OF' })
  const [wake] = await receiver.waitFor(1)
  expect(wake!.body.payload).toMatchObject({ scope: 'CAN_READ_MEMORIES_OF', grantedBy: '@operator' })
})

// The attack: without a key, ask which projects there are.
test('without a key a project that is not there and an agent that is not there answer the same', async () => {
  const { gateway } = await startWithRed()
  await using _closing = gateway
  const rpc = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x' } }
  const ask = async (project: string) => {
    const at = `/projects/${project}/agents/nobody`
    const headers = { 'A2A-Version': '1.0' }
    const answers = [
      await gateway.call('GET', `${at}/.well-known/agent-card.json`, undefined, { key: null }),
      await gateway.call('POST', at, rpc, { key: null, headers }),
      await gateway.call('GET', `${at}/tasks/x`, undefined, { key: null, headers }),
    ]
    return answers.map(({ status, body }) => ({ status, body: JSON.stringify(body).replaceAll(project, '…') }))
  }
  const [there, nowhere] = [await ask('red'), await ask('nowhere')]
  expect(there.map(({ status }) => status)).toEqual([404, 404, 404])
  expect(nowhere).toEqual(there)
})

// The attack: with a key of another project, ask for the nearest names and for who can do what.
test('names and capabilities of another project are hidden without a grant', async () => {
  const { gateway, spy } = await startWithRed()
  await using _closing = gateway
  const donna = await gateway.addAgent('donna')
  await gateway.call('POST', '/v1/sessions', { surface: 'codex', capabilities: ['has-telegram'] }, donna)
  const ask = async (to: string) => (await gateway.call('POST', '/v1/messages', { to, subject: 'Hi' }, spy)).body
  expect(await ask('default:dona')).toMatchObject({ code: 'agent-not-found', candidates: [] })
  expect(await ask('default:has-telegram')).toMatchObject({ code: 'agent-not-found', candidates: [] })
  const [here, nowhere] = [await ask('default:zoe'), await ask('nowhere:zoe')]
  expect(JSON.stringify(nowhere).replaceAll('nowhere', 'default')).toBe(JSON.stringify(here))
  expect((await ask('nowhere:*')).code).toBe((await ask('default:*')).code)
  await gateway.call('POST', '/v1/permissions', { grantee: 'red:@spy', scope: 'CAN_REPLY_TO' }, donna)
  expect(await ask('default:has-telegram')).toMatchObject({ recipients: [{ agent: '@donna' }] })
})
