import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { unknownVariables } from '../../../src/cli/operator/unknown-variables.ts'
import { secretVariables } from '../../../src/client/secret-files.ts'
import { settingList } from '../../../src/config/settings.ts'
import { dataDirectory } from '../../support/data-directory.ts'
import { runRouse } from '../../support/process-gateway.ts'
import { until } from '../../support/until.ts'

test.each([
  ['ROUSE_PROT', 'ROUSE_PORT'],
  ['ROUSE_DATABSE_URL', 'ROUSE_DATABASE_URL'],
  ['ROUSE_ADMINKEY', 'ROUSE_ADMIN_KEY'],
  ['ROUSE_LOGLEVEL', 'ROUSE_LOG_LEVEL'],
  ['ROUSE_ENCRYPTION_KEYFILE', 'ROUSE_ENCRYPTION_KEY_FILE'],
  ['ROUSE_SOMETHING_ELSE_ALTOGETHER', undefined],
])('%s is named, with what it may stand for: %s', (variable, meant) => {
  expect(unknownVariables({ [variable]: 's3cret' })).toEqual([{ variable, meant }])
})

test('what is known is not named: settings, their files, the variables of other commands, those of Kubernetes, others', () => {
  const fine = [
    ...settingList.map(({ name }) => name),
    ...secretVariables.map((name) => `${name}_FILE`),
    'ROUSE_KEY',
    'ROUSE_TASK_ID',
  ]
  const foreign = ['ROUSE_SERVICE_HOST', 'ROUSE_PORT_4520_TCP_ADDR', 'PATH', 'MY_ROUSE_PROT', '']
  expect(unknownVariables(Object.fromEntries([...fine, ...foreign].map((name) => [name, '1'])))).toEqual([])
})

test('every variable that the code names is known', () => {
  const src = new URL('../../../src/', import.meta.url)
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const texts = files.map((name) => readFileSync(new URL(name, src), 'utf8'))
  const named = new Set(texts.flatMap((text) => [...text.matchAll(/\bROUSE_[A-Z_]*[A-Z]\b/g)].map(([name]) => name)))
  expect(named.size).toBeGreaterThan(40)
  expect(unknownVariables(Object.fromEntries([...named].map((name) => [name, '1'])))).toEqual([])
})

test('a thousand of them are twenty lines of bounded length', () => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`ROUSE_${'X'.repeat(500)}${i}`, '1']))
  const named = unknownVariables(many)
  expect(named).toHaveLength(20)
  for (const { variable } of named) expect(variable).toHaveLength(100)
})

test('a gateway names a mistyped variable at its start, without its value, and starts', async () => {
  using directory = dataDirectory()
  await using child = runRouse(['serve', '--json', '--port', '0', '--grpc-port', 'off', '--data-dir', directory.path], {
    ROUSE_PROT: 's3cret',
  })
  await until(child.output, ({ stdout }) => stdout.includes('"url"'), 30_000)
  child.kill('SIGTERM')
  const { stderr, stdout, code } = await child.exited
  expect(code).toBe(0)
  const line = stderr.split('\n').find((one) => one.includes('config.unknown_variable'))
  expect(JSON.parse(line!)).toMatchObject({ level: 'warn', variable: 'ROUSE_PROT', meant: 'ROUSE_PORT' })
  expect(stderr + stdout).not.toContain('s3cret')
})
