import { describe, expect, test } from 'vitest'
import { startFakeModel } from './fake-model.ts'
import { openOffice } from './office.ts'
import { opencodeConfig, opencodeQuiet } from './opencode-config.ts'
import { program } from './programs.ts'

const opencode = program('opencode')

describe.skipIf(opencode === undefined)('OpenCode', () => {
  test('its model calls our tools, and gets the mail that waits with their answers', async () => {
    await using office = await openOffice()
    await using model = await startFakeModel((_request, number) =>
      number === 1 ? { tool: 'rouse_whoami', input: {} } : { text: `answer ${number}` },
    )
    Object.assign(office.env, opencodeQuiet)
    const original = opencodeConfig(model.url)
    office.write('.config/opencode/opencode.jsonc', original)
    const install = await office.rouse('install', 'opencode', '--profile', office.profile)
    expect([install.code, install.stderr]).toEqual([0, ''])
    await office.gateway.send('@donna', 'Please review PR 7')

    const first = await office.run(opencode!, ['run', 'Who are you?'])
    expect([first.code, first.stdout]).toEqual([0, expect.stringContaining('answer 2')])
    expect(model.requests[0]!.text).toContain('"rouse_whoami"')
    expect(model.requests[1]!.text).toContain('@donna')
    expect(model.requests[1]!.text).toContain('Please review PR 7')
    const { body } = await office.gateway.call('GET', '/v1/sessions?status=ended', undefined, { key: office.agent.key })
    expect(body.sessions).toEqual([expect.objectContaining({ surface: 'opencode', status: 'ended' })])
    console.log(`opencode run: ${first.ms} ms with a tool call`)

    expect(await office.rouse('uninstall', 'opencode')).toMatchObject({ code: 0 })
    expect(office.read('.config/opencode/opencode.jsonc')).toBe(original)
  })

  test('its model calls our tools over HTTP, with the key from its environment', async () => {
    await using office = await openOffice()
    await using model = await startFakeModel((_request, number) =>
      number === 1 ? { tool: 'rouse_whoami', input: {} } : { text: `answer ${number}` },
    )
    Object.assign(office.env, { ...opencodeQuiet, ROUSE_KEY: office.agent.key })
    office.write('.config/opencode/opencode.jsonc', opencodeConfig(model.url))
    await office.rouse('install', 'opencode', '--profile', office.profile, '--http')

    const { code, ms } = await office.run(opencode!, ['run', 'Who are you?'])
    expect(code).toBe(0)
    expect(model.requests[1]!.text).toContain('@donna')
    console.log(`opencode run: ${ms} ms with a tool call over HTTP`)
  })
})
