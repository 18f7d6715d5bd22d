import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { untilAborted } from '../../src/lib/until-aborted.ts'
import { within } from '../../src/lib/within.ts'
import { until } from '../support/until.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

test('a wait ends in time though memory is collected meanwhile, and nobody holds its signal', async () => {
  let isOver = false
  void untilAborted(within(100, new AbortController().signal).signal).then(() => {
    isOver = true
  })
  await until(
    () => {
      collect()
      return isOver
    },
    (over) => over,
    5_000,
  )
})

test('it ends with another signal, and for its reason', () => {
  const other = new AbortController()
  using late = within(60_000, other.signal)
  other.abort('gone')
  expect([late.signal.aborted, late.signal.reason]).toEqual([true, 'gone'])
})
