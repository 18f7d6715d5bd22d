import { EventEmitter } from 'node:events'
import { afterEach, expect, test, vi } from 'vitest'
import { endOnFault } from '../../../src/cli/run/faults.ts'

// The end that is forced after ten seconds belongs to no other test.
afterEach(() => void vi.useRealTimers())

class FakeProcess extends EventEmitter {
  exit(): never {
    throw new Error('The process was to end by itself.')
  }
}

test('an uncaught fault is logged, counted and ends the process once', () => {
  vi.useFakeTimers()
  const process = new FakeProcess()
  const lines: string[] = []
  let ends = 0
  const faults = endOnFault(process, { log: (line) => lines.push(line), end: () => ends++ })
  process.emit('uncaughtException', new RangeError('too deep'), 'unhandledRejection')
  process.emit('uncaughtException', 'a text', 'uncaughtException')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      level: 'fatal',
      msg: 'process.failed',
      origin: 'unhandledRejection',
      count: 1,
      err: { type: 'RangeError', message: 'too deep' },
    },
    { msg: 'process.failed', count: 2, err: { message: 'a text' } },
  ])
  expect([ends, faults.count()]).toEqual([1, 2])
})

test('the answer to a call that its client has reset is no fault', () => {
  const process = new FakeProcess()
  const faults = endOnFault(process, { log: expect.unreachable, end: expect.unreachable })
  const error = Object.assign(new Error('The stream has been destroyed'), { code: 'ERR_HTTP2_INVALID_STREAM' })
  process.emit('uncaughtException', error, 'uncaughtException')
  expect(faults.count()).toBe(0)
})
