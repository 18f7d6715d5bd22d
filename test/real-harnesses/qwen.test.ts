import { describe, expect, test } from 'vitest'
import { startFakeModel } from './fake-model.ts'
import { openOffice } from './office.ts'
import { program } from './programs.ts'

const qwen = program('qwen')

/** With a comment, as its users write them. It takes no trailing commas, and adds its version where that is missing. */
const settings = `{
  // the user's own
  "telemetry": { "enabled": false },
  "privacy": { "usageStatisticsEnabled": false },
  "general": { "enableAutoUpdate": false },
  "$version": 4
}
`

describe.skipIf(qwen === undefined)('Qwen Code', () => {
  test('its model reads what mail waits, and calls our tools', async () => {
    await using office = await openOffice()
    await using model = await startFakeModel((_request, number) =>
      number === 1 ? { tool: 'mcp__rouse__whoami', input: {} } : { text: `answer ${number}` },
    )
    Object.assign(office.env, { OPENAI_API_KEY: 'x', OPENAI_BASE_URL: model.url, OPENAI_MODEL: 'mock-model' })
    office.write('.qwen/settings.json', settings)
    const install = await office.rouse('install', 'qwen', '--profile', office.profile, '--approve-tools')
    expect([install.code, install.stderr]).toEqual([0, ''])
    await office.gateway.send('@donna', 'Please review PR 7')

    const first = await office.run(process.execPath, [qwen!, '--auth-type', 'openai', 'Who are you?'])
    expect([first.code, first.stdout]).toEqual([0, expect.stringContaining('answer 2')])
    expect(model.requests[0]!.text).toContain('Please review PR 7')
    expect(model.requests[1]!.text).toContain('@donna')
    const { body } = await office.gateway.call('GET', '/v1/sessions?status=ended', undefined, { key: office.agent.key })
    expect(body.sessions[0]).toMatchObject({ surface: 'qwen', reason: 'ended', presence: { asOf: expect.any(String) } })
    expect(await office.broken('qwen')).toEqual([])
    console.log(`qwen: ${first.ms} ms with hooks and a tool call`)

    expect(await office.rouse('uninstall', 'qwen')).toMatchObject({ code: 0 })
    expect(office.read('.qwen/settings.json')).toBe(settings)
  })
})
