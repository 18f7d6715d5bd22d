import { expect, test } from 'vitest'
import { adapters } from '../../src/harnesses/adapters.ts'
import { sourceKind } from '../../src/words/sender-view.ts'

test('a sender may know which harness of the bridge proved a step, and nothing of what follows its name', () => {
  const ids = Object.keys(adapters)
  expect(ids.map((id) => sourceKind(`${id}: /home/donna/secret`))).toEqual(ids)
  expect(sourceKind('codexes: turn/started')).toBe('reader')
  expect(sourceKind(null)).toBe('reader')
})
