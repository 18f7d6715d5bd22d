import { readdirSync, readFileSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'

const directory = new URL('../../drizzle/sqlite/', import.meta.url)

// S4-3
test('older display names become addresses if they can be typed and are free; the first owner keeps one', () => {
  const db = new Sqlite(':memory:')
  const files = readdirSync(directory).sort()
  const apply = (of: (file: string) => boolean) => {
    for (const file of files.filter(of)) db.exec(readFileSync(new URL(file, directory), 'utf8'))
  }
  apply((file) => file < '0005')
  const insertAgent =
    db.prepare(`insert into agent (id, project_id, handle, display_name, aliases, skills, input_modes, output_modes,
    access, default_wake_policy, version, created_at, updated_at) values (?, ?, ?, ?, '[]', '[]', '[]', '[]', 'project', 'immediate', 1, ?, 0)`)
  const insertName = db.prepare('insert into agent_name (project_id, name, agent_id) values (?, ?, ?)')
  const agents = [
    ['late', 'default', '@late', 'Sintra', 2],
    ['early', 'default', '@early', 'Sintra', 1],
    ['own', 'default', '@own', 'Own', 1],
    ['other', 'default', '@other', 'Late', 1],
    ['spaced', 'default', '@spaced', 'Donna Paulsen', 1],
    ['accent', 'default', '@accent', 'Belém', 1],
    ['long', 'default', '@long', 'Constellation', 1],
    ['boss', 'default', '@boss', 'Operator', 1],
    ['mute', 'default', '@mute', null, 1],
    ['empty', 'default', '@empty', '', 1],
    ['web', 'web', '@web', 'SINTRA', 3],
  ] as const
  for (const [id, project, handle, name, createdAt] of agents) {
    insertAgent.run(id, project, handle, name, createdAt)
    insertName.run(project, handle, id)
  }
  apply((file) => file >= '0005')
  const added = db
    .prepare("select project_id, name, agent_id from agent_name where name <> '@' || agent_id order by 1, 2")
    .raw()
    .all()
  expect(added).toEqual([
    ['default', '@sintra', 'early'],
    ['web', '@sintra', 'web'],
  ])
  db.close()
})
