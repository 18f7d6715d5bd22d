import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { secretVariables, withSecretFiles } from '../../src/client/secret-files.ts'
import { dataDirectory } from '../support/data-directory.ts'

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
