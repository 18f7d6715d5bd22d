import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { run } from './terminal.ts'

// S2-16, S2-20
test('a hook starts a session, which hands over the mail that waits, and ends it without knowing its id', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: donna.key, ROUSE_AGENT_SURFACE: 'claude_code' }
  await gateway.call('POST', '/v1/messages', {
    to: 'donna',
    subject: 'Build',
    body: 'The build is\nred',
    ref: 'issue-7',
  })
  const started = await run(['session', 'start', '--pid', '4242'], env)
  expect(started.code, started.stderr).toBe(0)
  const id = /^session: +(\S+)$/m.exec(started.stdout)![1]!
  expect(started.stdout).toContain('surface:  claude_code\n')
  expect(started.stdout).toMatch(
    /1 message waited:\n\nBuild\n[\s\S]*from: +@operator\n[\s\S]*ref: +issue-7\n[\s\S]*The build is\nred\n$/,
  )
  const again = await run(['session', 'start', '--pid', '4242', '--surface', 'codex', '--json'], env)
  expect(JSON.parse(again.stdout)).toMatchObject({ sessionId: expect.any(String), pendingSignals: [] })
  const live = JSON.parse((await run(['session', 'list', '--json'], env)).stdout).sessions
  expect(live).toMatchObject([{ agent: '@donna', surface: 'codex', status: 'live' }])
  const current = live[0].sessionId
  expect((await run(['session', 'beat'], env)).stdout).toBe(`${current} is live.\n`)
  expect((await run(['session', 'end'], env)).stdout).toBe(`${current} has ended.\n`)
  expect(await run(['session', 'end'], env)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no live session'),
  })
  expect((await run(['session', 'list'], env)).stdout).toContain('No sessions. Start one')
  expect((await run(['session', 'list', '--status', 'ended'], env)).stdout).toContain('ended (ended)')
  expect(id).toMatch(/\S/)
})

test('a session without a surface is a usage error that names the option and the variable', async () => {
  const { code, stderr } = await run(['session', 'start'])
  expect([code, stderr]).toEqual([2, expect.stringMatching(/--surface or ROUSE_AGENT_SURFACE/)])
})

// S1-8
test('presence is reported by the agent and shown to its team', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: donna.key }
  const without = await run(['presence', 'set', 'idle'], env)
  expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('session') })
  await run(['session', 'start', '--surface', 'codex'], env)
  expect((await run(['presence', 'set', 'active', '--turn', 't-1', '--source', 'mcp-client'], env)).stdout).toMatch(
    /^Session \S+ is active\.\n$/,
  )
  const own = await run(['presence', 'show'], env)
  expect(own.stdout).toMatch(
    /agent: +@donna\n[\s\S]*surface: +codex\ndoing: +active\nturn: +t-1\nsource: +mcp-client\n/,
  )
  const other = await run(['presence', 'show', '@donna', '--json'], { ...env, ROUSE_KEY: gateway.adminKey })
  expect(JSON.parse(other.stdout)).toMatchObject({ presence: { state: 'active' }, session: { surface: 'codex' } })
  expect((await run(['presence', 'set', 'asleep'], env)).stderr).toContain('waitingOnApproval')
})
