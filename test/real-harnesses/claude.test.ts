import { describe, expect, test } from 'vitest'
import { prepareClaude } from './claude-config.ts'
import { startFakeModel } from './fake-model.ts'
import { openOffice } from './office.ts'
import { claudeProgram } from './programs.ts'

const claude = claudeProgram()
describe.skipIf(claude === undefined)('Claude Code', () => {
  test('its model reads what mail waits, and calls our tools', async () => {
    await using office = await openOffice()
    await using model = await startFakeModel((_request, number) =>
      number === 1 ? { tool: 'mcp__rouse__whoami', input: {} } : { text: `answer ${number}` },
    )
    prepareClaude(office, claude!, model.url)
    const install = await office.rouse('install', 'claude', '--profile', office.profile, '--approve-tools')
    expect([install.code, install.stderr]).toEqual([0, ''])
    await office.gateway.send('@donna', 'Please review PR 7')

    const first = await office.run(claude!, ['-p', 'Who are you?'])
    expect([first.code, first.stdout]).toEqual([0, expect.stringContaining('answer 2')])
    expect(model.requests[0]!.text).toMatch(/hook additional context: Rouse: 1 message waits/)
    expect(model.requests[1]!.text).toMatch(/tool_result.*@donna/)
    const { body } = await office.gateway.call('GET', '/v1/sessions?status=ended', undefined, { key: office.agent.key })
    // Nobody watches `claude -p`: its hooks report nothing, and the session is that of the server.
    expect(body.sessions).toEqual([expect.objectContaining({ surface: 'claude_code', reason: 'ended' })])
    expect(await office.broken('claude')).toEqual([])
    console.log(`claude -p: ${first.ms} ms with hooks and a tool call`)

    expect(await office.rouse('uninstall', 'claude')).toMatchObject({ code: 0 })
    const { mcpServers = {} } = JSON.parse(office.read('claude/.claude.json'))
    expect(mcpServers).toEqual({})
  })

  test('its model calls our tools over HTTP, with the key from its environment', async () => {
    await using office = await openOffice()
    await using model = await startFakeModel((_request, number) =>
      number === 1 ? { tool: 'mcp__rouse__whoami', input: {} } : { text: `answer ${number}` },
    )
    prepareClaude(office, claude!, model.url)
    await office.rouse('install', 'claude', '--profile', office.profile, '--approve-tools', '--http')
    Object.assign(office.env, { ROUSE_KEY: office.agent.key })

    const { code, ms } = await office.run(claude!, ['-p', 'Who are you?'])
    expect(code).toBe(0)
    expect(model.requests[1]!.text).toMatch(/tool_result.*@donna/)
    console.log(`claude -p: ${ms} ms with a tool call over HTTP`)
  })
})
