import { expect, test } from 'vitest'
import { Problem } from '../../src/errors.ts'
import { createLogger, terminalLine } from '../../src/logger/create-logger.ts'

function recorder(level: string) {
  const lines: string[] = []
  let flushes = 0
  const output = { write: (line: string) => void lines.push(line), flush: () => void flushes++, end: () => {} }
  return { log: createLogger(level, output), lines, flushes: () => flushes }
}

test('a line is JSON with the level as a word and the time as ISO 8601', () => {
  const { log, lines } = recorder('info')
  log.info({ status: 201 }, 'request.answered')
  expect(JSON.parse(lines[0]!)).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    status: 201,
    msg: 'request.answered',
  })
})

test('a level hides the ones below it, and says so before a line is built', () => {
  const { log, lines } = recorder('warn')
  log.debug({}, 'a.b')
  log.info({}, 'a.b')
  log.warn({}, 'a.b')
  expect(lines).toHaveLength(1)
  expect([log.shows?.('debug'), log.shows?.('info')]).toEqual([false, false])
  expect(recorder('info').log.shows?.('info')).toBe(true)
})

test('warnings and errors do not wait for other lines', () => {
  const { log, flushes } = recorder('info')
  log.info({}, 'a.b')
  expect(flushes()).toBe(0)
  log.warn({}, 'a.b')
  log.error({}, 'a.b')
  expect(flushes()).toBe(2)
})

test('an error has its stack, but for a store that refuses, which says so for every request', () => {
  const { log, lines } = recorder('info')
  log.error({ err: new Error('a bug') }, 'request.failed')
  log.error({ err: new Problem('storage-unavailable', { cause: new Error('SQLITE_FULL') }) }, 'request.failed')
  const [bug, full] = lines.map((line) => JSON.parse(line).err)
  expect(bug).toMatchObject({ message: 'a bug', stack: expect.stringContaining('create-logger.test') })
  expect(full).toMatchObject({ code: 'storage-unavailable', message: expect.stringContaining('SQLITE_FULL') })
  expect(full).not.toHaveProperty('stack')
})

test('fields whose names say that they are secret are redacted, also one level below, and the given fields stay as they are', () => {
  const { log, lines } = recorder('info')
  const given = { apiKey: 'rk_1', target: { token: 't0ken', url: 'u' }, keyId: 'k1' }
  log.info(given, 'a.b')
  expect(JSON.parse(lines[0]!)).toMatchObject({
    apiKey: '[Redacted]',
    target: { token: '[Redacted]', url: 'u' },
    keyId: 'k1',
  })
  expect(given.apiKey).toBe('rk_1')
})

test('an error keeps its message and its stack', () => {
  const { log, lines } = recorder('info')
  log.error({ err: new RangeError('too deep') }, 'a.failed')
  expect(JSON.parse(lines[0]!).err).toMatchObject({
    type: 'RangeError',
    message: 'too deep',
    stack: expect.any(String),
  })
})

test('on a terminal a line is short: clock, level, event, fields', () => {
  const time = '2026-04-26T10:00:01.250Z'
  const line = (fields: object) =>
    terminalLine(JSON.stringify({ level: 'info', time, ...fields, msg: 'wake.attempted' }))
  expect(line({ agent: '@donna', logIds: [3, 4], note: 'two words' })).toBe(
    '10:00:01.250 info  wake.attempted agent=@donna logIds=[ 3, 4 ] note="two words"\n',
  )
  expect(line({ note: 'x'.repeat(1_000) }).length).toBeLessThan(300)
  const stack = 'Error: no\n    at one (file.ts:1:1)\n    at two (file.ts:2:2)'
  expect(line({ err: { message: 'no', stack } })).toBe(
    '10:00:01.250 info  wake.attempted error=no\n    at one (file.ts:1:1)\n    at two (file.ts:2:2)\n',
  )
})

test('nothing in a field moves the cursor, changes the direction or ends the line', () => {
  const line = terminalLine(JSON.stringify({ level: 'warn', time: '', note: 'a\nb\u001b[2J\u202e\u0085', msg: 'a.b' }))
  expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  expect(line.endsWith('\n')).toBe(true)
})
