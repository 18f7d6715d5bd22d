import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import {
  type AppliedMigration,
  ownMigrations,
  pendingMigrations,
  renderMigration,
} from '../../src/storage/migrations.ts'
import { migrate } from '../../src/storage/sqlite/migrate.ts'
import { SqliteDatabase } from '../../src/storage/sqlite/sqlite-database.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { laterMigration, schemaOne } from './later-migration.ts'

test.each([
  ['sqlite', '27f21c02ee70e5d7b4074d14aab88f7b4b6c47c97615225dc6bfafb77a16ae6a'],
  ['postgres', 'e9284e5a1c5a136c2bb69bf062ca7eaf73b71443f482911164d8bfee5aaaa6e3'],
] as const)('0001_schema.sql of %s is not edited any more: stores have it by its hash', (engine, hash) => {
  expect(ownMigrations(engine)[0]).toMatchObject({ version: 1, name: '0001_schema.sql', hash })
})

test('a migration has the next number, and after the first one its file is for both engines', () => {
  const engines = ['postgres', 'sqlite'] as const
  for (const engine of engines) {
    expect(ownMigrations(engine).map(({ version }) => version)).toEqual(
      ownMigrations(engine).map((_, index) => index + 1),
    )
    expect(readdirSync(join(drizzle, engine))).toEqual(['0001_schema.sql'])
  }
  expect(
    readdirSync(drizzle)
      .filter((name) => !name.endsWith('.sql'))
      .sort(),
  ).toEqual(engines)
})
const drizzle = join(import.meta.dirname, '../../drizzle')

test('a migration is rendered for an engine: its types, and the lines of that engine alone', () => {
  const template = `create table a (
  id {key} primary key, -- JSON: {}, {name: number}
  at {int}
){byKey};
create index a_at on a (at)
{sqlite}   where at > 0;
{postgres} where at > 1;
`
  expect(renderMigration(template, 'sqlite')).toBe(`create table a (
  id text primary key, -- JSON: {}, {name: number}
  at integer
) without rowid;
create index a_at on a (at)
   where at > 0;
`)
  expect(renderMigration(template, 'postgres')).toBe(`create table a (
  id text collate "C" primary key, -- JSON: {}, {name: number}
  at bigint
);
create index a_at on a (at)
 where at > 1;
`)
  expect(() => renderMigration('{bool}', 'sqlite')).toThrow('A migration has an unknown placeholder: {bool}.')
})

const first = { version: 1, name: '0001_a.sql', text: '', hash: 'a' }
const second = { version: 2, name: '0002_b.sql', text: '', hash: 'b' }
const row = (migration: typeof first, fields: Partial<AppliedMigration> = {}): AppliedMigration => ({
  ...migration,
  applied_at: Date.UTC(2026, 11, 24),
  build: '0.1.0+1c4f6c1b',
  ...fields,
})
const pending = (applied: AppliedMigration[]) =>
  pendingMigrations('sqlite', [first, second], applied, []).map(({ version }) => version)

test('a store gets what it does not have yet', () => {
  expect(pending([])).toEqual([1, 2])
  expect(pending([row(first)])).toEqual([2])
  expect(pending([row(first), row(second)])).toEqual([])
})

test.each<[what: string, applied: AppliedMigration[], message: RegExp]>([
  [
    'a newer store',
    [row(first), row(second), row({ ...first, version: 3, name: '0003_c.sql', hash: 'c' })],
    /^The store is newer than this build \(0\.1\.0\S*\): Rouse 0\.1\.0\+1c4f6c1b migrated it to 0003_c\.sql, and this build ends with 0002_b\.sql\. Start that build or a newer one, or restore a copy of the store from before\.$/,
  ],
  [
    'a newer store of a build that is not known, with a number of the old counting',
    [row(first), row(second), row({ ...first, version: 28, name: '0028_c.sql', hash: 'c' }, { build: null })],
    /^The store is newer .*: another build migrated it to 0028_c\.sql/,
  ],
  [
    'the same number with another text',
    [row(first), row(second, { hash: 'x' })],
    /^The store has another 0002_b\.sql than this build \(.*\): Rouse 0\.1\.0\+1c4f6c1b migrated it on 2026-12-24\. Start the build .* name another data directory/,
  ],
  ['another first schema', [row(first, { hash: 'x' })], /^The store has another 0001_a\.sql than this build/],
  [
    'the old counting',
    [row(first, { name: '0001_initial.sql', hash: null }), row({ ...first, version: 28, name: '0028_z.sql' })],
    /^The store is of an older counting of schemas: it ends with 0028_z\.sql/,
  ],
  [
    'an early store with a second migration that no build has any more',
    [row(first, { hash: null }), row({ ...first, version: 32, name: '0032_y.sql' }, { hash: null })],
    /^The store was made on 2026-12-24, by an older build whose 0001_a\.sql had other tables\./,
  ],
])('%s is refused in a sentence that names the remedy', (_what, applied, message) => {
  expect(() => pending(applied)).toThrow(message)
})

test('the remedy for a shared store names its database', () => {
  const applied = [row(first, { hash: 'x' })]
  expect(() => pendingMigrations('postgres', [first], applied, [])).toThrow(
    /begin a new store: name an empty database \(ROUSE_DATABASE_URL\)\.$/,
  )
})

/** A store as the builds made it that kept no hashes. */
function unhashed(path: string): Sqlite.Database {
  const raw = new Sqlite(path)
  raw.exec(schemaOne('sqlite'))
  return raw
}

test('a store that was made before hashes were kept is known by its tables, and gets the hash and the later migrations', () => {
  const raw = unhashed(':memory:')
  raw.exec('create table of_another_program (id text)')
  const own = [...ownMigrations('sqlite'), laterMigration]
  migrate(raw, 5, own)
  migrate(raw, 6, own)
  const applied = raw.prepare('select version, hash, build, applied_at as at from schema_migration').all()
  expect(applied[0]).toEqual({ version: 1, hash: own[0]!.hash, build: null, at: 1 })
  expect(applied.at(-1)).toEqual({
    version: laterMigration.version,
    hash: laterMigration.hash,
    build: expect.stringMatching(/^\d/),
    at: 5,
  })
  expect(raw.prepare('select added from project').all()).toEqual([])
  raw.close()
})

test('an early store with another column or index is refused, and stays as it was', () => {
  for (const change of ['alter table task drop column first_size', 'drop index task_by_context']) {
    const raw = unhashed(':memory:')
    raw.exec(change)
    expect(() => migrate(raw, 5)).toThrow(/^The store was made on 1970-01-01, by an older build/)
    expect(raw.prepare('select * from schema_migration').all()).toHaveLength(1)
    expect(raw.prepare('select * from schema_migration').get()).not.toHaveProperty('hash')
    raw.close()
  }
})

test('a migration that fails leaves nothing of itself, and the next start continues with it', () => {
  const raw = new Sqlite(':memory:')
  const broken = { ...laterMigration, text: `${laterMigration.text}; oops` }
  expect(() => migrate(raw, 1, [...ownMigrations('sqlite'), broken])).toThrow('syntax error')
  expect(() => raw.prepare('select added from project')).toThrow('no such column')
  migrate(raw, 2, [...ownMigrations('sqlite'), laterMigration])
  expect(raw.prepare('select added from project').all()).toEqual([])
  raw.close()
})

test('a table of migrations that an earlier start left empty is completed', () => {
  const raw = new Sqlite(':memory:')
  raw.exec(
    'create table schema_migration (version integer primary key, name text not null, applied_at integer not null)',
  )
  migrate(raw, 1)
  expect(raw.prepare('select hash from schema_migration').pluck().all()).toEqual(
    ownMigrations('sqlite').map(({ hash }) => hash),
  )
  raw.close()
})

test('a store of a newer build is refused with the version that made it so, and its lock is free again', async () => {
  using directory = dataDirectory()
  const open = () => SqliteDatabase.open(directory.path, systemClock)
  await open().close()
  const raw = new Sqlite(join(directory.path, 'rouse.db'))
  migrate(raw, 1, [...ownMigrations('sqlite'), laterMigration])
  raw.close()
  for (const _ of ['once', 'again']) {
    expect(open).toThrow(/^The store is newer than this build \(0\.\S+\): Rouse 0\.\S+ migrated it to 9998_later\.sql/)
  }
})
