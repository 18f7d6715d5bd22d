import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { envToConfig } from '../../src/config/config.ts'
import { settingList } from '../../src/config/settings.ts'
import { run } from '../cli/terminal.ts'
import { pagePath, renderPage } from './docs/page.ts'

test('docs/configuration.md is what `npm run settings:docs` writes', () => {
  expect(readFileSync(pagePath, 'utf8')).toBe(renderPage())
})

test('the configuration reads each setting of the list once, and beside them only variables of OpenTelemetry', () => {
  const read = new Set<string>()
  envToConfig(new Proxy({}, { get: (_, name) => void read.add(String(name)) }))
  const names = settingList.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect([...read].filter((name) => !name.startsWith('OTEL_')).sort()).toEqual([...names].sort())
})

test('serve has the flags of the list, each with its variable, and none for a key', async () => {
  const { code, stdout } = await run(['serve', '--help'])
  expect(code).toBe(0)
  const help = stdout.replace(/\s+/g, ' ')
  const named = [...help.matchAll(/\[\$(\w+)\]/g)].map(([, name]) => name)
  expect(named).toEqual(settingList.filter(({ flag }) => flag !== undefined).map(({ name }) => name))
  expect(named.filter((name) => name!.endsWith('_KEY') && name !== 'ROUSE_TLS_KEY')).toEqual([])
  expect(help).toContain(
    '--port <port> the HTTP port; 0 = any free one, printed (0–65535; default: 4520) [$ROUSE_PORT]',
  )
})
