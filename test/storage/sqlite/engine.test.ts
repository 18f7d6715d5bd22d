import { expect, test } from 'vitest'
import { unfitNode } from '../../../src/storage/sqlite/engine.ts'

const sentence =
  /^Node \d+\.\d+\.\d+ cannot run the SQLite that is installed here\. Start Rouse with Node 22\.14 or newer/

// SQLite would end the process without a word.
test.each([
  ['13.2.0', '22.12.0', '9'],
  ['13.2.0', '23.5.0', '9'],
  ['13.2.0', '20.19.0', '9'],
  ['13.2.0', '22.0.0', undefined],
])('better-sqlite3 %s is not loaded on Node %s', (sqlite, node, napi) => {
  expect(unfitNode(sqlite, { node, ...(napi ? { napi } : {}) })).toMatch(sentence)
})

test.each([
  ['13.2.0', '22.14.0', '10'],
  ['13.2.0', '24.1.0', '10'],
  ['12.11.1', '20.19.0', '9'],
  ['12.11.1', '22.12.0', '9'],
])('better-sqlite3 %s is loaded on Node %s', (sqlite, node, napi) => {
  expect(unfitNode(sqlite, { node, napi })).toBeUndefined()
})
