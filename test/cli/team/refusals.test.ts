import { expect, test } from 'vitest'
import { newAgent } from '../answers.ts'
import { startStubGateway } from '../stub-gateway.ts'
import { run } from '../terminal.ts'
import { teamDesk } from './team-desk.ts'

test('an entry that the gateway refuses is named with its line and the remedy; the others are made, and stay', async () => {
  await using at = await teamDesk()
  await at.gateway.addAgent('felix', { aliases: ['reviewer'] })
  const text = `agents:
  - handle: donna
    aliases: [reviewer]
  - handle: mike
grants:
  - { grantor: mike, grantee: nobody, scope: CAN_REPLY_TO }
  - { grantor: mike, grantee: felix, scope: CAN_REPLY_TO }
subscriptions:
  - agentIdentity: mike
    trigger: SENT_TO_ME
    harnessTarget: a2a-webhook
`
  const { code, stdout, stderr } = await at.apply(text, '--save-keys', at.keys)
  expect(code).toBe(1)
  expect(stderr).toContain(
    'standard input:2: refused agent @donna (agent-exists)\n  aliases: @reviewer is taken in this project. Choose another name.\n',
  )
  expect(stderr).toContain('standard input:6: refused grant CAN_REPLY_TO of @mike to @nobody (agent-not-found)\n')
  expect(stderr).toContain(
    'standard input:9: refused subscription @mike SENT_TO_ME a2a-webhook (invalid-request)\n  harnessTargetMetadata.url: a2a-webhook needs',
  )
  expect(stdout).toMatch(
    /^made {5}agent @mike, .*\nmade {5}grant CAN_REPLY_TO of @mike to @felix\n2 made, 3 refused, 0 as they were\.\n$/,
  )
  const again = await at.apply(text, '--save-keys', at.keys, '--json')
  expect(again.code).toBe(1)
  expect(JSON.parse(again.stdout)).toMatchObject({
    results: [
      { action: 'refused', name: '@donna', place: 'standard input:2', problem: { code: 'agent-exists' } },
      { action: 'refused', kind: 'grant' },
      { action: 'refused', kind: 'subscription' },
    ],
    unchanged: 2,
  })
})

test('a dry run says what the run would refuse, with its exit code', async () => {
  await using at = await teamDesk()
  await at.gateway.addAgent('felix')
  const text = `agents:
  - handle: mike
grants:
  - { grantor: mike, grantee: felix, scope: CAN_REPLY_TO }
  - { grantor: mike, grantee: "web:anybody", scope: CAN_REPLY_TO }
  - { grantor: operator, grantee: mya, scope: CAN_REPLY_TO }
subscriptions:
  - { agentIdentity: nobody, trigger: SENT_TO_ME, harnessTarget: bridge-daemon }
`
  const { code, stdout, stderr } = await at.apply(text, '--dry-run')
  expect(code).toBe(1)
  expect(stdout).toContain('+    grantee: mya')
  expect(stderr).toBe(
    [
      'standard input:6: refused grant CAN_REPLY_TO of @operator to @mya (agent-not-found)',
      '  There will be no agent @mya.',
      'standard input:8: refused subscription @nobody SENT_TO_ME bridge-daemon (agent-not-found)',
      '  There will be no agent @nobody.',
      'Not in standard input, and kept: agent @felix. --prune removes them.',
      '',
    ].join('\n'),
  )
  const { refused } = JSON.parse((await at.apply(text, '--dry-run', '--json')).stdout)
  expect(refused).toMatchObject([{ kind: 'grant' }, { kind: 'subscription', problem: { code: 'agent-not-found' } }])
})

test('an alias goes from one agent to another in one run', async () => {
  await using at = await teamDesk()
  await at.gateway.addAgent('donna')
  await at.gateway.addAgent('mike', { aliases: ['reviewer'] })
  const text = 'agents: [{ handle: donna, aliases: [reviewer] }, { handle: mike, aliases: [] }]'
  expect((await at.apply(text)).code).toBe(1)
  expect((await at.apply(text, '--prune')).code).toBe(0)
  expect((await at.gateway.call('GET', '/v1/agents/reviewer')).body.handle).toBe('@donna')
})

test('the key of an agent, of a viewer, and of another project', async () => {
  await using at = await teamDesk()
  const donna = await at.gateway.addAgent('donna')
  const own = { ...at.env, ROUSE_KEY: donna.key }
  for (const argv of [['export'], ['apply', '-']]) {
    const { code, stdout, stderr } = await run(argv, own, { stdin: () => 'agents: []' })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain("this is the key of @donna, which sees a part of it. Use an operator's key")
  }
  const viewer = (await at.gateway.call('POST', '/v1/operator-keys', { role: 'viewer' })).body.operatorKey
  const asViewer = { ...at.env, ROUSE_KEY: viewer }
  expect((await run(['export'], asViewer)).stdout).toContain('handle: donna')
  const text = 'agents: [{ handle: donna, description: New }]'
  const refused = await run(['apply', '-'], asViewer, { stdin: () => text })
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('refused agent @donna (forbidden)')])

  await at.gateway.call('POST', '/v1/projects', { project: 'web' })
  const copied = await run(['apply', '-', '--project', 'web', '--save-keys', at.keys], at.env, {
    stdin: () => text,
  })
  expect(copied.code, copied.stderr).toBe(0)
  expect((await run(['export', '--project', 'web'], at.env)).stdout).toContain('description: New')
  expect(await at.exported()).not.toContain('description')
})

test.each([[[]], [['--json']]])(
  'a gateway that goes away: what was made is reported, and what is left %j',
  async (format) => {
    await using at = await teamDesk()
    const answers = { agents: [], subscriptions: [], permissions: [], nextPageToken: '' }
    const list = { json: answers }
    await using stub = await startStubGateway({
      'GET /v1/whoami': {
        json: { kind: 'operator', identity: '@operator', project: 'default', scopes: [], keyId: 'k' },
      },
      'GET /v1/agents': list,
      'GET /v1/wake-subscriptions': list,
      'GET /v1/permissions': list,
      'POST /v1/agents': { status: 201, json: newAgent() },
      'POST /v1/permissions': () => void stub.stop(),
    })
    const text = 'agents: [{ handle: donna }]\ngrants: [{ grantor: donna, grantee: donna, scope: CAN_REPLY_TO }]'
    const { code, stdout, stderr } = await run(
      ['apply', '-', '--save-keys', at.keys, ...format],
      { ROUSE_URL: stub.url, ROUSE_KEY: 'rko_x' },
      { stdin: () => text },
    )
    expect(code).toBe(3)
    if (format.length > 0) {
      expect(JSON.parse(stdout).results).toMatchObject([{ action: 'made', name: '@donna' }])
      expect(JSON.parse(stderr)).toMatchObject({ code: 'unreachable' })
      return
    }
    expect(stdout).toContain('made     agent @donna')
    expect(stderr).toContain('1 of 2 changes are made. Run it again for the others.')
  },
)
