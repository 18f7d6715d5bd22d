import { expect, test } from 'vitest'
import { nearestNames } from '../../src/lib/nearest-names.ts'

// S4-4
test.each([
  ['dona', ['@donna', '@dora'], ['@donna', '@dora']],
  ['@Donna', ['@donna', '@mike'], ['@donna']],
  ['web', ['@web-owner', '@mike'], ['@web-owner']],
  ['reviewer', ['@reviwer', '@review', '@sales'], ['@review', '@reviwer']],
  ['x', ['@mike', '@donna'], []],
  ['zoltan', ['@mike', '@donna'], []],
  ['donna', [], []],
  ['web-kitten', ['@web-sitting', '@web-singing'], ['@web-sitting']],
  ['web-worker-17', ['@web-worker-71', '@web-worker-1', '@mike'], ['@web-worker-1', '@web-worker-71']],
])('%s among %j is %j', (wanted, names, nearest) => {
  expect(nearestNames(wanted, names, 5)).toEqual(nearest)
})

test('not more than requested, the nearest first', () => {
  const names = ['@mira', '@mika', '@mike', '@mikey']
  expect(nearestNames('mike', names, 2)).toEqual(['@mike', '@mika'])
})
