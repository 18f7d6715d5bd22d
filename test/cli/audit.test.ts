import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { run } from './terminal.ts'

test('audit shows who did what, filters, has pages, and is for operators only', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await gateway.addAgent('mike')
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey }
  const { code, stdout } = await run(['audit', '--operation', 'agent.register'], env)
  expect(code).toBe(0)
  expect(stdout).toMatch(/AT +WHO +KEY +FROM +BY +OPERATION +OUTCOME +TIMES +TARGET\n/)
  expect(stdout).toMatch(/Z +@operator +admin +127\.0\.0\.1 +rest +agent\.register +ok +1 +mike\n.* donna\n/)
  const page = await run(['audit', '--limit', '1'], env)
  const [, token] = /There is more: --page-token (\w+)/.exec(page.stderr) ?? []
  expect((await run(['audit', '--page-token', token!], env)).stdout).toMatch(/agent\.register .* donna\n/)
  expect((await run(['audit', '--actor', '@nobody', '--all'], env)).stdout).toBe('The audit has no such record.\n')
  const refused = await run(['audit'], { ...env, ROUSE_KEY: donna.key })
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('Only the operator may read the audit')])
})
