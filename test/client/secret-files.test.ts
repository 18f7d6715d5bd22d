import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSecretFiles, secretVariables, withSecretFiles } from '../../src/client/secret-files.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { runRouse } from '../support/process-gateway.ts'
import { until } from '../support/until.ts'

test('each secret may come from a file, without its line end', () => {
  using directory = dataDirectory()
  for (const name of secretVariables) {
    const path = join(directory.path, name)
    writeFileSync(path, ' the secret \n')
    const env = withSecretFiles({ [`${name}_FILE`]: path, ROUSE_PORT: '1' })
    expect(env).toMatchObject({ [name]: 'the secret', ROUSE_PORT: '1' })
  }
  expect(withSecretFiles({ ROUSE_BUS_URL_FILE: '' }).ROUSE_BUS_URL).toBeUndefined()
})

test('a file that is not there, or a secret that is given twice, is refused by name', () => {
  expect(() => withSecretFiles({ ROUSE_ADMIN_KEY_FILE: '/nowhere' })).toThrow(
    'ROUSE_ADMIN_KEY_FILE: /nowhere cannot be read (ENOENT).',
  )
  expect(() => withSecretFiles({ ROUSE_ADMIN_KEY_FILE: '/nowhere', ROUSE_ADMIN_KEY: 'a' })).toThrow(
    'ROUSE_ADMIN_KEY and ROUSE_ADMIN_KEY_FILE: give one of them.',
  )
})

test('a file that every user of the machine can read is named, with its remedy', () => {
  using directory = dataDirectory()
  const path = join(directory.path, 'admin')
  writeFileSync(path, 'secret', { mode: 0o600 })
  const env = {
    ROUSE_ADMIN_KEY_FILE: path,
    ROUSE_ENCRYPTION_KEY_FILE: '/nowhere',
    ROUSE_BUS_URL_FILE: '/run/secrets/bus',
  }
  expect(openSecretFiles(env)).toEqual([])
  chmodSync(path, 0o644)
  expect(openSecretFiles(env)).toEqual([
    { variable: 'ROUSE_ADMIN_KEY_FILE', path, mode: '644', remedy: `chmod 640 ${path}` },
  ])
})

test('a gateway names such a file at its start, and starts', async () => {
  using directory = dataDirectory()
  const path = join(directory.path, 'admin')
  const secret = 'k'.repeat(40)
  writeFileSync(path, secret)
  chmodSync(path, 0o644)
  const data = join(directory.path, 'data')
  await using child = runRouse(['serve', '--json', '--port', '0', '--grpc-port', 'off', '--data-dir', data], {
    ROUSE_ADMIN_KEY_FILE: path,
  })
  await until(child.output, ({ stdout }) => stdout.includes('"url"'), 30_000)
  child.kill('SIGTERM')
  const { stderr, stdout, code } = await child.exited
  expect(code).toBe(0)
  const line = stderr.split('\n').find((one) => one.includes('config.secret_open'))
  expect(JSON.parse(line!)).toMatchObject({ level: 'warn', variable: 'ROUSE_ADMIN_KEY_FILE', path })
  expect(stderr + stdout).not.toContain(secret)
})
