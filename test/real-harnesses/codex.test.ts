import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseToml } from '../../src/config-files/toml.ts'
import { codexConfig } from './codex-config.ts'
import { trustHooks } from './codex-server.ts'
import { startFakeModel } from './fake-model.ts'
import { openOffice } from './office.ts'
import { program } from './programs.ts'

const codex = program('codex')

describe.skipIf(codex === undefined)('Codex', () => {
  test('its model calls our tools, and reads what mail waits once its user has trusted the hooks', async () => {
    await using office = await openOffice()
    await using model = await startFakeModel((_request, number) =>
      number === 1 ? { tool: 'whoami', namespace: 'mcp__rouse', input: {} } : { text: `answer ${number}` },
    )
    Object.assign(office.env, { CODEX_HOME: office.at('codex'), PATH: `${dirname(codex!)}:${office.env.PATH}` })
    const original = codexConfig(model.url, office.at('project'))
    office.write('codex/config.toml', original)
    const install = await office.rouse('install', 'codex', '--profile', office.profile, '--approve-tools')
    expect([install.code, install.stderr]).toEqual([0, ''])

    const first = await office.run(codex!, ['exec', 'Who are you?'])
    expect([first.code, first.stdout]).toEqual([0, expect.stringContaining('answer 2')])
    // The tool's result is in the next request.
    expect(model.requests[0]!.text).toContain('mcp__rouse')
    expect(model.requests[1]!.text).toMatch(/function_call_output.*@donna/)

    await office.gateway.send('@donna', 'Please review PR 7')
    await office.run(codex!, ['exec', 'Anything new?'])
    expect(model.requests[2]!.text).not.toContain('Please review PR 7')
    expect(await office.broken('codex')).toEqual(['trust in the hooks'])
    const before = await trustHooks(codex!, office.at('project'), office.env)
    expect(before).toEqual(Array(5).fill('untrusted'))

    const third = await office.run(codex!, ['exec', 'And now?'])
    expect(third.code).toBe(0)
    expect(model.requests[3]!.text).toContain('Please review PR 7')
    const { body } = await office.gateway.call('GET', '/v1/sessions?status=ended', undefined, { key: office.agent.key })
    // The session of the last run: the server and the hooks spoke for the same process, and it has ended with it.
    expect(body.sessions[0]).toMatchObject({
      surface: 'codex',
      reason: 'ended',
      presence: { asOf: expect.any(String) },
    })
    expect(await office.broken('codex')).toEqual([])
    console.log(`codex exec: ${first.ms} ms with a tool call, ${third.ms} ms with hooks`)

    expect(await office.rouse('uninstall', 'codex')).toMatchObject({ code: 0 })
    expect(existsSync(office.at('codex/hooks.json'))).toBe(false)
    // The trust that the user gave stays the user's.
    const { hooks, ...rest } = parseToml(office.read('codex/config.toml')) as Record<string, unknown>
    expect(rest).toEqual(parseToml(original))
    expect(hooks).toBeDefined()
  })

  test('its model calls our tools over HTTP, with the key from its environment', async () => {
    await using office = await openOffice()
    await using model = await startFakeModel((_request, number) =>
      number === 1 ? { tool: 'whoami', namespace: 'mcp__rouse', input: {} } : { text: `answer ${number}` },
    )
    Object.assign(office.env, { CODEX_HOME: office.at('codex') })
    office.write('codex/config.toml', codexConfig(model.url, office.at('project')))
    await office.rouse('install', 'codex', '--profile', office.profile, '--approve-tools', '--http')
    expect(office.read('codex/config.toml')).not.toContain(office.agent.key)
    Object.assign(office.env, { ROUSE_KEY: office.agent.key })

    const { code, ms } = await office.run(codex!, ['exec', 'Who are you?'])
    expect(code).toBe(0)
    expect(model.requests[1]!.text).toMatch(/function_call_output.*@donna/)
    console.log(`codex exec: ${ms} ms with a tool call over HTTP`)
  })
})
