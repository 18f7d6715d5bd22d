import { expect, test } from 'vitest'
import { adapterIds } from '../../src/bridge/adapters/ids.ts'
import { sourceKind } from '../../src/words/sender-view.ts'

test('a sender may know which harness of the bridge proved a step, and nothing of what follows its name', () => {
  expect(adapterIds.map((id) => sourceKind(`${id}: /home/donna/secret`))).toEqual([...adapterIds])
  expect(sourceKind('codexes: turn/started')).toBe('reader')
  expect(sourceKind(null)).toBe('reader')
})
