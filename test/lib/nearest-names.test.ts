import { expect, test } from 'vitest'
import { closestWord, nearestNames } from '../../src/lib/nearest-names.ts'

// S4-4
test.each([
  ['dona', ['@donna', '@dora'], ['@donna', '@dora']],
  ['@Donna', ['@donna', '@mike'], ['@donna']],
  ['web', ['@web-owner', '@mike'], ['@web-owner']],
  ['reviewer', ['@reviwer', '@review', '@sales'], ['@review', '@reviwer']],
  ['x', ['@mike', '@donna'], []],
  ['zoltan', ['@mike', '@donna'], []],
  ['donna', [], []],
  ['dnona', ['@donna', '@mike'], ['@donna']],
  ['web-kitten', ['@web-sitting', '@web-singing'], ['@web-sitting']],
  ['web-worker-17', ['@web-worker-71', '@web-worker-1', '@mike'], ['@web-worker-1', '@web-worker-71']],
])('%s among %j is %j', (wanted, names, nearest) => {
  expect(nearestNames(wanted, names, 5)).toEqual(nearest)
})

test('not more than requested, the nearest first', () => {
  const names = ['@mira', '@mika', '@mike', '@mikey']
  expect(nearestNames('mike', names, 2)).toEqual(['@mike', '@mika'])
})

test.each([
  ['codx', ['claude', 'codex', 'qwen'], 'codex'],
  ['cladue', ['claude', 'codex'], 'claude'],
  ['claude', ['cloude', 'claude'], 'claude'],
  ['direct', ['directories'], undefined],
  ['Codex', ['codex'], 'codex'],
  ['xyz', ['codex'], undefined],
  ['a', [], undefined],
])('%s among %j most likely means %s', (typed, known, meant) => {
  expect(closestWord(typed, known)).toBe(meant)
})
