import { type Engine, type Migration, ownMigrations } from '../../src/storage/migrations.ts'

/** A migration of a build after this one. */
export const laterMigration: Migration = {
  version: 9998,
  name: '9998_later.sql',
  text: 'alter table project add column added text',
  hash: 'f'.repeat(64),
}

/** The statements by which a build that kept no hashes made a store. */
export function schemaOne(engine: Engine): string {
  const { name, text } = ownMigrations(engine)[0]!
  const integer = engine === 'sqlite' ? 'integer' : 'bigint'
  return `create table schema_migration (version ${integer} primary key, name text not null, applied_at ${integer} not null);
    ${text}; insert into schema_migration values (1, '${name}', 1)`
}
