import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { Journal } from '../../../src/bridge/journal/journal.ts'
import { dataDirectory } from '../../support/data-directory.ts'

const session = { harness: 'codex', conversationId: 'thread', cwd: '/app', state: 'idle' } as const
const wake = { id: '1', agent: '@donna', subscriptionId: 'WAKE_SUB:1', sender: '@olga' }

function openAt(path: string, notes: string[] = []): Journal {
  return Journal.open({ path, now: Date.now, note: (text) => void notes.push(text) })
}

describe('the journal as an attacker leaves it', () => {
  test.each(['bridge.db', 'bridge.db.lock'])('is not opened through a symbolic link in its place: %s', (name) => {
    using directory = dataDirectory()
    const state = join(directory.path, 'state')
    mkdirSync(state, { mode: 0o700 })
    const victim = join(directory.path, 'victim')
    symlinkSync(victim, join(state, name))
    expect(() => openAt(join(state, 'bridge.db'))).toThrow(/symbolic link.*Remove it/)
    expect(existsSync(victim)).toBe(false)
  })

  test('that others could write is closed, and its user is notified', () => {
    using directory = dataDirectory()
    const path = join(directory.path, 'state', 'bridge.db')
    openAt(path)[Symbol.dispose]()
    chmodSync(path, 0o666)
    const notes: string[] = []
    using _journal = openAt(path, notes)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(notes).toEqual([expect.stringContaining('was open to others (mode 0666): closed')])
  })

  test('in a directory that others may change is not used', () => {
    using directory = dataDirectory()
    const state = join(directory.path, 'state')
    mkdirSync(state)
    chmodSync(state, 0o777)
    expect(() => openAt(join(state, 'bridge.db'))).toThrow(/chmod go-w/)
  })

  test('that is garbage is not written over', () => {
    using directory = dataDirectory()
    const path = join(directory.path, 'state', 'bridge.db')
    mkdirSync(join(directory.path, 'state'), { mode: 0o700 })
    writeFileSync(path, 'x'.repeat(10_000), { mode: 0o600 })
    expect(() => openAt(path)).toThrow(/is damaged. Move it away/)
    expect(readFileSync(path, 'utf8')).toBe('x'.repeat(10_000))
  })

  test('of an older bridge says nothing until it is brought up to date, and keeps its rows', () => {
    using directory = dataDirectory()
    const path = join(directory.path, 'state', 'bridge.db')
    mkdirSync(join(directory.path, 'state'), { mode: 0o700 })
    writeVersion1(path)
    expect(Journal.read({ path, now: Date.now })).toBeUndefined()
    {
      using journal = openAt(path)
      expect(journal.find('begun', '@donna')).toMatchObject({
        subscriptionId: 'WAKE_SUB:1',
        harness: 'codex',
        conversationId: 'thread',
        route: 'queue',
        step: 'turn_started',
        handedOverAt: 1_000,
        endedAt: 1_001,
      })
      // What was open stays so: it is looked for, and not handed over again.
      expect(journal.accept({ ...wake, id: 'open' })).toMatchObject({ handedOverAt: 2_000, endedAt: null })
      expect([...journal.subscriptionsOf('@donna')]).toEqual([['SENT_TO_ME', 'WAKE_SUB:1']])
      // A row of before has one sender, or none.
      expect(journal.turnsOf('@donna', 0, 10)).toEqual([
        { at: 2_000, senders: [] },
        { at: 1_000, senders: ['@olga'] },
      ])
      journal.accept(wake)
      journal.handOver('1', session, 'queue', ['@olga', '@ben'])
    }
    using read = Journal.read({ path, now: Date.now })
    expect(read?.turnsOf('@donna', 0, 1)).toMatchObject([{ senders: ['@olga', '@ben'] }])
    expect(read?.newest('@donna', 10)).toHaveLength(3)
  })

  test('of a newer bridge is left as it is', () => {
    using directory = dataDirectory()
    const path = join(directory.path, 'state', 'bridge.db')
    openAt(path)[Symbol.dispose]()
    const file = new Database(path)
    file.pragma('user_version = 99')
    file.close()
    expect(() => openAt(path)).toThrow('version 99 is of a newer Rouse')
  })
})

/** A journal as the first bridge has made it, with what it had. */
function writeVersion1(path: string): void {
  const file = new Database(path)
  file.pragma('journal_mode = WAL')
  file.exec(`create table wake (
    id text primary key, agent text not null, subscription_id text not null, sender text, harness text, conversation_id text,
    cwd text, route text, handed_over_at integer, step text not null, detail text not null, ended_at integer,
    created_at integer not null, updated_at integer not null) strict;
  create index wake_of_bridge on wake (handed_over_at);
  create index wake_of_agent on wake (agent, handed_over_at);
  create index wake_of_agent_by_change on wake (agent, updated_at);
  create index wake_of_pair on wake (agent, sender, handed_over_at);
  create index wake_by_change on wake (updated_at);
  create table subscription (agent text not null, trigger text not null, subscription_id text not null,
    primary key (agent, trigger)) strict;
  create table holder (id integer primary key check (id = 1), pid integer not null, since integer not null) strict;
  insert into wake values
    ('begun', '@donna', 'WAKE_SUB:1', '@olga', 'codex', 'thread', '/app', 'queue', 1000, 'turn_started', '', 1001, 900, 1001),
    ('open', '@donna', 'WAKE_SUB:1', null, 'codex', 'thread', '/app', 'queue', 2000, 'written', '', null, 1900, 2000);
  insert into subscription values ('@donna', 'SENT_TO_ME', 'WAKE_SUB:1');
  insert into holder values (1, 4711, 900);
  pragma user_version = 1`)
  file.close()
  chmodSync(path, 0o600)
}
