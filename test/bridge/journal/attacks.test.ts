import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { Journal } from '../../../src/bridge/journal/journal.ts'
import { dataDirectory } from '../../support/data-directory.ts'

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
