import { describe, expect, test } from 'vitest'
import { startFakeModel } from './fake-model.ts'
import { openOffice } from './office.ts'
import { program } from './programs.ts'

const opencode = program('opencode')

/** With a comment, as its users write them, and with the schema: OpenCode adds it where it is missing. */
const config = (model: string) => `{
  "$schema": "https://opencode.ai/config.json",
  // the user's own
  "autoupdate": false,
  "share": "disabled",
  "model": "mock/mock-model",
  "small_model": "mock/mock-model",
  "enabled_providers": ["mock"],
  "provider": {
    "mock": {
      "npm": "@ai-sdk/openai-compatible",
      "name": "Mock",
      "options": { "baseURL": "${model}", "apiKey": "x" },
      "models": { "mock-model": { "name": "Mock", "limit": { "context": 100000, "output": 4096 } } },
    },
  },
}
`

const quiet = {
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
}

describe.skipIf(opencode === undefined)('OpenCode', () => {
  test('its model calls our tools, and gets the mail that waits with their answers', async () => {
    await using office = await openOffice()
    await using model = await startFakeModel((_request, number) =>
      number === 1 ? { tool: 'rouse_whoami', input: {} } : { text: `answer ${number}` },
    )
    Object.assign(office.env, quiet)
    const original = config(model.url)
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
    Object.assign(office.env, { ...quiet, ROUSE_KEY: office.agent.key })
    office.write('.config/opencode/opencode.jsonc', config(model.url))
    await office.rouse('install', 'opencode', '--profile', office.profile, '--http')

    const { code, ms } = await office.run(opencode!, ['run', 'Who are you?'])
    expect(code).toBe(0)
    expect(model.requests[1]!.text).toContain('@donna')
    console.log(`opencode run: ${ms} ms with a tool call over HTTP`)
  })
})
