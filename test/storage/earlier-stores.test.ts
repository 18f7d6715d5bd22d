import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { ownMigrations } from '../../src/storage/migrations.ts'
import { run } from '../cli/terminal.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { startGateway } from '../support/gateway.ts'

const keyOf = (commit: string, name: string) => readFileSync(join(import.meta.dirname, 'stores', commit, name), 'utf8')

/** A data directory with a copy of the store that the program of a commit has made. */
function copyOf(commit: string) {
  const directory = dataDirectory()
  const packed = readFileSync(join(import.meta.dirname, 'stores', commit, 'rouse.db.gz'))
  writeFileSync(join(directory.path, 'rouse.db'), gunzipSync(packed), { mode: 0o600 })
  for (const name of ['admin.key', 'encryption.key']) {
    writeFileSync(join(directory.path, name), keyOf(commit, name), { mode: 0o600 })
  }
  return directory
}

const embedded = { ROUSE_DATABASE_URL: '' }
const start = (dataDir: string) => startGateway({ dataDir, env: embedded })

test('the store of ef013ea0 is migrated, and all that was in it is served with its keys', async () => {
  using copy = copyOf('ef013ea0')
  for (const tasks of [2, 3]) {
    const gateway = await start(copy.path)
    const donna = { key: keyOf('ef013ea0', 'donna.key').trim() }
    const own = await gateway.call('GET', '/v1/tasks', undefined, donna)
    expect(own.body.tasks).toHaveLength(tasks)
    const inbox = await gateway.call('GET', '/v1/inbox', undefined, donna)
    expect(inbox.body.messages).toEqual(expect.arrayContaining([expect.objectContaining({ subject: 'Good morning' })]))
    await gateway.send('donna', 'Sent to this build')
    await gateway.stop()
  }
  const raw = new Sqlite(join(copy.path, 'rouse.db'))
  const applied = raw.prepare('select version, hash from schema_migration order by version').all()
  raw.close()
  expect(applied).toEqual(ownMigrations('sqlite').map(({ version, hash }) => ({ version, hash })))
  const { stdout } = await run(['rekey', '--new-key', '--data-dir', copy.path], embedded)
  expect(stdout).toMatch(/^Encrypted again with the key \S+: signing keys 1,/)
})

const remedy =
  'This build does not read it, and no command carries its data over. Start the build that last served it, or begin a new store: name another data directory (--data-dir, ROUSE_DATA_DIR).'

test.each([
  ['e8cdd006', `The store was made on 2026-11-28, by an older build whose 0001_schema.sql had other tables. ${remedy}`],
  [
    '1c4f6c1b',
    `The store is of an older counting of schemas: it ends with 0028_message_pieces.sql, of 2026-11-28. ${remedy}`,
  ],
])(
  'the store of %s is refused by all that would open it, in one sentence, and stays as it was',
  async (commit, text) => {
    using copy = copyOf(commit)
    const rows = () => {
      const raw = new Sqlite(join(copy.path, 'rouse.db'))
      const all = raw.prepare('select * from schema_migration').all()
      raw.close()
      return all
    }
    const before = rows()
    await expect(start(copy.path)).rejects.toThrow(text)
    const target = { ROUSE_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }
    for (const [argv, env] of [
      [['serve', '--port', '0', '--grpc-port', 'off'], embedded],
      [['rekey', '--new-key'], embedded],
      [['migrate', '--from', 'sqlite', '--to', 'postgres'], target],
    ] as const) {
      const { code, stdout, stderr } = await run([...argv, '--data-dir', copy.path], env)
      expect(code).toBe(1)
      expect(stdout).not.toContain('Rouse is up')
      expect(stderr).toContain(text)
    }
    expect(rows()).toEqual(before)
  },
)
