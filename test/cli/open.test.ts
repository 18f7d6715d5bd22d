import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dataDirectory } from '../support/data-directory.ts'
import { startGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { run } from './terminal.ts'

test('open prints a link that signs in once, with the key of the command and in its project', async () => {
  await using gateway = await startGateway()
  await gateway.call('POST', '/v1/projects', { project: 'web' })
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey }
  const { code, stdout, stderr } = await run(['open'], env)
  expect(code).toBe(0)
  const [, signInCode] = /#\/sign-in\/(rs_[\w-]{43})\n$/.exec(stdout)!
  expect(stdout).toBe(`${gateway.url}/#/sign-in/${signInCode}\n`)
  expect(stderr).toContain('once, within a minute')
  const { body } = await gateway.call('POST', '/page/sign-in', undefined, { key: signInCode! })
  expect(body).toEqual({ key: gateway.adminKey })

  const json = JSON.parse((await run(['open', '--json', '--project', 'web'], env)).stdout)
  expect(json.link).toMatch(/#\/sign-in\/rs_[\w-]{43}\?project=web$/)
  expect(Date.parse(json.expiresAt) - Date.now()).toBeLessThanOrEqual(60_000)
})

test('open does not start a browser where nobody sits at a terminal', async () => {
  const { code, stderr } = await run(['open', '--browser'])
  expect(code).toBe(2)
  expect(stderr).toContain('--browser needs a terminal')
})

test.runIf(process.platform === 'linux')('open --browser hands the link to the browser, and no key', async () => {
  await using gateway = await startGateway()
  using place = dataDirectory()
  const opened = join(place.path, 'opened')
  const opener = join(place.path, 'xdg-open')
  writeFileSync(opener, `#!/bin/sh\nprintf '%s\\n%s\\n' "$1" "$ROUSE_KEY" > '${opened}'\n`)
  chmodSync(opener, 0o755)
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey, PATH: place.path }
  const terminal = { isTerminal: true }
  const { code, stdout } = await run(['open', '--browser'], env, terminal)
  expect([code, stdout]).toEqual([0, 'Opened in the browser.\n'])
  const text = await until(
    () => readFileSync(opened, 'utf8'),
    (found) => found.endsWith('\n\n'),
  )
  expect(text).toMatch(new RegExp(`^${gateway.url}/#/sign-in/rs_[\\w-]{43}\n\n$`))

  // A browser that cannot be started: the link is printed instead.
  for (const without of ['/nowhere', place.path]) {
    writeFileSync(opener, '#!/bin/sh\nexit 3\n')
    const failed = await run(['open', '--browser'], { ...env, PATH: without }, terminal)
    expect([failed.code, failed.stdout]).toEqual([0, expect.stringContaining('#/sign-in/')])
    expect(failed.stderr).toContain('No browser could be started')
  }
})
