import { describe, expect, test } from 'vitest'
import { callTool } from '../fronts/mcp/http/call-tool.ts'
import { connectNew, connectOld } from '../fronts/mcp/http/clients.ts'
import { initialize, post } from '../fronts/mcp/http/wire.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { besideStore } from '../support/store.ts'
import { until } from '../support/until.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire carries
type Any = any

const eras = [
  {
    era: 'with sessions',
    connect: (gateway: TestGateway, agent: TestAgent) => connectOld(gateway, agent),
    knock: (gateway: TestGateway, key: string) => post(gateway, { key }, initialize()),
  },
  {
    era: 'without sessions',
    connect: (gateway: TestGateway, agent: TestAgent) => connectNew(gateway, agent, '2026-07-28'),
    knock: (gateway: TestGateway, key: string) => callTool(gateway, key, 'send_task', secretTask),
  },
]

const grantMike = { action: 'grant', grantee: '@mike', scope: 'CAN_REPLY_TO' }
const claimIssue = { action: 'claim', ref: 'issue-7' }
const secretTask = { to: '@mike', text: 'secret text', taggedConcepts: ['secret-concept'] }
const calls = [
  { name: 'grant', args: grantMike },
  { name: 'claim', args: claimIssue },
  { name: 'send_task', args: secretTask },
]

/** A gateway with donna, mike and the id of donna's key. */
async function startTeam() {
  const gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await gateway.addAgent('mike')
  const keyId: string = (await gateway.call('GET', '/v1/agents/donna/keys')).body.keys[0].keyId
  return { gateway, donna, keyId, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
}

/** Calls a tool with the official client of an era. */
async function use({ connect }: (typeof eras)[number], gateway: TestGateway, agent: TestAgent, call: Any) {
  await using one = await connect(gateway, agent)
  return (await one.client.callTool({ name: call.name, arguments: call.args })) as Any
}

const read = async (gateway: TestGateway, query: string): Promise<Any[]> =>
  (await gateway.call('GET', `/v1/audit?${query}`)).body.records
const untilRead = (gateway: TestGateway, query: string, count = 1): Promise<Any[]> =>
  until(
    () => read(gateway, query),
    (rows) => rows.length >= count,
  )

/** Checks that no stored record has one of the secrets in it. */
async function expectWithout({ dataDir, adminKey }: TestGateway, secrets: readonly string[]): Promise<void> {
  const text = JSON.stringify(await besideStore(dataDir, 'select * from audit'))
  for (const secret of ['secret', adminKey, ...secrets]) expect(text).not.toContain(secret)
}

describe.each(eras)('over MCP $era', (era) => {
  test('a tool is recorded as what it does: who, with which key, from where, to what', async () => {
    await using team = await startTeam()
    const { gateway, donna, keyId } = team
    const granted = await use(era, gateway, donna, calls[0])
    const claimed = await use(era, gateway, donna, calls[1])
    const sent = await use(era, gateway, donna, calls[2])
    expect([granted.isError, claimed.isError, sent.isError]).toEqual([undefined, undefined, undefined])
    // The first call starts a session of the agent too.
    const rows = await untilRead(gateway, 'actor=@donna', 4)
    const same = { actor: '@donna', keyId, address: '127.0.0.1', front: 'mcp', outcome: 'ok', count: 1 }
    const recorded = [
      { ...same, operation: 'SendMessage', target: sent.structuredContent.taskId, project: 'default' },
      { ...same, operation: 'claim.take', target: 'issue-7', project: 'default' },
      { ...same, operation: 'permission.grant', target: granted.structuredContent.permissionId, project: 'default' },
      { ...same, operation: 'session.start', target: expect.stringMatching(/^session_/), project: 'default' },
    ]
    expect(rows).toMatchObject(recorded)
    await expectWithout(gateway, [donna.key])
  })

  test('a grant is stored before its answer', async () => {
    await using team = await startTeam()
    const { gateway, donna } = team
    await use(era, gateway, donna, calls[0])
    expect(await read(gateway, 'operation=permission.grant')).toMatchObject([{ outcome: 'ok', front: 'mcp' }])
  })

  test('a tool is recorded with the code of its refusal', async () => {
    await using team = await startTeam()
    const { gateway, donna } = team
    const { body } = await gateway.call('POST', '/v1/agents/donna/keys', { scopes: ['read'] }, donna)
    const reader = { ...donna, key: body.apiKey }
    for (const call of calls) expect((await use(era, gateway, reader, call)).isError, call.name).toBe(true)
    const unknown = { name: 'grant', args: { ...grantMike, grantee: '@nobody' } }
    expect((await use(era, gateway, donna, unknown)).isError).toBe(true)
    const rows = await untilRead(gateway, 'actor=@donna&outcome=forbidden', 3)
    const operations = rows.map(({ operation }) => operation).sort()
    expect(operations).toEqual(['SendMessage', 'claim.take', 'permission.grant'])
    for (const row of rows) expect(row).toMatchObject({ keyId: body.keyId, address: '127.0.0.1', front: 'mcp' })
    const [failed] = await untilRead(gateway, 'actor=@donna&outcome=agent-not-found')
    expect(failed).toMatchObject({ operation: 'permission.grant', front: 'mcp' })
    await expectWithout(gateway, [donna.key, reader.key])
  })

  test('a wrong key is recorded, without an actor', async () => {
    await using gateway = await startGateway()
    const wrongKey = 'rk_wrong'
    expect((await era.knock(gateway, wrongKey)).status).toBe(401)
    const [row] = await untilRead(gateway, 'project=*&outcome=unauthenticated')
    const nobody = { actor: '', callerId: null, keyId: null, project: null }
    expect(row).toMatchObject({
      ...nobody,
      front: 'mcp',
      address: '127.0.0.1',
      operation: 'mcp.post',
      target: '',
      count: 1,
    })
    await expectWithout(gateway, [wrongKey])
  })
})
