import fc from 'fast-check'
import { afterEach, beforeEach, expect, expectTypeOf, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { flag, int, json, type NounOf, named, nullable, type RowOf, text, word } from '../../src/storage/columns.ts'
import type { Database } from '../../src/storage/database.ts'
import { RowTable } from '../../src/storage/row-table.ts'
import { p, sql, statement } from '../../src/storage/statement.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { openStore } from '../support/store.ts'

const fields = {
  id: text,
  kind: word<'mail' | 'task'>(),
  words: named('agent', nullable(json<readonly string[]>())),
  toldAt: int,
  isOpen: flag,
}
const needs = new RowTable('need', fields, { projectId: text, snoozedUntil: int })
const insert = needs.insert(sql`on conflict (project_id, id) do nothing`)
const insertAll = needs.insertRows(sql`on conflict (project_id, id) do update set kind = excluded.kind`)
const update = statement<RowOf<typeof fields>>(
  sql`update need set ${needs.setAllBut('id', 'toldAt')} where id = ${p('id')}`,
)
const byId = statement<{ id: string }, RowOf<typeof fields>>(
  sql`select ${needs.columns} from need where id = ${p('id')}`,
)
const joined = statement<object, Pick<RowOf<typeof fields>, 'id' | 'toldAt'>>(
  sql`select ${needs.select('n', 'id', 'toldAt')} from need n join need o on o.id = n.id order by n.id`,
)
const written = { projectId: 'web', snoozedUntil: 0 }
const open = { id: 'a', kind: 'mail', words: ['x'], toldAt: 5, isOpen: true } as const

let directory: ReturnType<typeof dataDirectory>
let db: Database
beforeEach(async () => {
  directory = dataDirectory()
  db = await openStore(directory.path, systemClock)
})
afterEach(async () => {
  await db.close()
  directory[Symbol.dispose]()
})

const find = async (id: string) => needs.fromRow((await db.get(byId, { id }))!)

test('a noun that is written is read again as it was', async () => {
  const noun = fc.record({
    kind: fc.constantFrom('mail' as const, 'task' as const),
    words: fc.option(fc.array(fc.string({ unit: 'grapheme' }).filter((one) => !one.includes('\0')))),
    toldAt: fc.nat(),
    isOpen: fc.boolean(),
  })
  let number = 0
  await fc.assert(
    fc.asyncProperty(noun, async (one) => {
      const id = String(number++)
      await db.transaction((tx) => tx.run(insert, { ...needs.toRow({ id, ...one }), ...written }))
      expect(await find(id)).toEqual({ id, ...one })
    }),
  )
})

test('writing a noun does not change it, and what follows the values of an insert is part of it', async () => {
  const row = { ...needs.toRow(open), ...written }
  expect(row).toMatchObject({ words: '["x"]', isOpen: 1 })
  expect(open).toMatchObject({ words: ['x'], isOpen: true })
  expect(await db.transaction((tx) => tx.run(insert, row))).toBe(1)
  expect(await db.transaction((tx) => tx.run(insert, row))).toBe(0)
})

test('many rows are inserted by their values, in the order of the declaration', async () => {
  const rows = ['a', 'b', 'c'].map((id) => ({ ...needs.toRow({ ...open, id }), ...written }))
  const [first] = rows
  await db.transaction((tx) => insertAll.run(tx, rows.map(needs.valuesOf)))
  await db.transaction((tx) => insertAll.run(tx, [needs.valuesOf({ ...first!, kind: 'task', toldAt: 6 })]))
  expect(await find('a')).toEqual({ ...open, kind: 'task' })
  expect(await find('c')).toEqual({ ...open, id: 'c' })
  expect((await db.all(joined, {})).map((row) => ({ ...row }))).toEqual(
    ['a', 'b', 'c'].map((id) => ({ id, toldAt: 5 })),
  )
})

test('an update sets all columns but those that are kept', async () => {
  await db.transaction((tx) => tx.run(insert, { ...needs.toRow(open), ...written }))
  await db.transaction((tx) =>
    tx.run(update, needs.toRow({ id: 'a', kind: 'task', words: null, toldAt: 9, isOpen: false })),
  )
  expect(await find('a')).toEqual({ id: 'a', kind: 'task', words: null, toldAt: 5, isOpen: false })
})

test('the types of rows and nouns follow from the columns', () => {
  expectTypeOf<RowOf<typeof fields>>().toEqualTypeOf<{
    readonly id: string
    readonly kind: 'mail' | 'task'
    readonly words: string | null
    readonly toldAt: number
    readonly isOpen: number
  }>()
  expectTypeOf<NounOf<typeof fields>>().toEqualTypeOf<{
    readonly id: string
    readonly kind: 'mail' | 'task'
    readonly words: readonly string[] | null
    readonly toldAt: number
    readonly isOpen: boolean
  }>()
})
