import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { endOnFault } from '../../src/cli/faults.ts'

class FakeProcess extends EventEmitter {
  exit(): never {
    throw new Error('The process was to end by itself.')
  }
}

test('an uncaught fault is logged, counted and ends the process once', () => {
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
