import { expect, test } from 'vitest'
import { createProgress, progressText } from '../../../src/cli/output/progress.ts'
import { FakeClock } from '../../support/fake-clock.ts'

function desk(errorColumns?: number, json = false) {
  const clock = new FakeClock()
  const printed: string[] = []
  const io = { stderr: (text: string) => void printed.push(text), errorColumns }
  return { clock, printed, progress: createProgress(io, { noun: 'rows', json, clock }) }
}

test.each([
  [0, 48_000, 20_000, '0 of 48,000 rows'],
  [12_000, 48_000, 500, '12,000 of 48,000 rows'],
  [12_000, 48_000, 26_700, '12,000 of 48,000 rows, 1 min 20 s left'],
  [47_999, 48_000, 26_700, '47,999 of 48,000 rows, 1 s left'],
  [1_000, 48_000, 100_000, '1,000 of 48,000 rows, 1 h 18 min left'],
  [48_000, 48_000, 90_000, '48,000 of 48,000 rows'],
])('%d of %d after %d ms', (done, total, elapsedMs, text) => {
  expect(progressText('rows', done, total, elapsedMs)).toBe(text)
})

test('on a terminal one line is rewritten, cut to its width, and emptied at the end', () => {
  const { clock, printed, progress } = desk(20)
  progress.show(10, 100)
  progress.show(11, 100)
  clock.advance(5_000)
  progress.show(50, 100)
  progress.end()
  progress.end()
  expect(printed).toEqual(['\r\u001b[K10 of 100 rows', '\r\u001b[K50 of 100 rows, 5 …', '\r\u001b[K'])
})

test('in a log there is a line every ten seconds at most, and none for a short work', () => {
  const { clock, printed, progress } = desk()
  for (let second = 0; second < 25; second++) {
    progress.show(second, 100)
    clock.advance(1_000)
  }
  progress.end()
  expect(printed).toEqual(['10 of 100 rows, 1 min 30 s left\n', '20 of 100 rows, 1 min 20 s left\n'])
})

test('another pass has a time of its own', () => {
  const { clock, printed, progress } = desk()
  progress.show(100, 100)
  clock.advance(60_000)
  progress.show(0, 100)
  clock.advance(10_000)
  progress.show(50, 100)
  expect(printed.at(-1)).toBe('50 of 100 rows, 10 s left\n')
})

test('with --json nothing is shown', () => {
  const { clock, printed, progress } = desk(80, true)
  progress.show(1, 2)
  clock.advance(20_000)
  progress.show(2, 2)
  progress.end()
  expect(printed).toEqual([])
})
