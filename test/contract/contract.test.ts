import { describe, expect, test } from 'vitest'
import { onPostgres } from '../support/store.ts'
import { cases } from './cases.ts'
import { listFolders, readFolder, renderCase } from './fixture.ts'

const remedy =
  'If the change is on purpose, run `npm run fixtures`, and read the difference: clients replay these bytes.'

test('every folder has its case, and every case its folder', () => {
  expect(listFolders(), remedy).toEqual(cases.map(({ folder }) => folder).sort())
})

// The folders on disk are what clients have; a case says how its folder comes about.
describe.each(listFolders())('%s', (folder) => {
  const { engine } = cases.find((candidate) => candidate.folder === folder) ?? {}
  test.skipIf(engine !== undefined && onPostgres)('matches the gateway byte for byte', async () => {
    const found = cases.find((candidate) => candidate.folder === folder)
    expect(found, `fixtures/${folder} has no line in test/contract/cases.ts.`).toBeDefined()
    expect(readFolder(folder), `fixtures/${folder} differs. ${remedy}`).toEqual(await renderCase(found!))
  })
})
