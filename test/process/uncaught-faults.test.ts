import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { faultExitCode } from '../../src/cli/run/faults.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { startProcessGateway } from '../support/process-gateway.ts'

const faulty = { NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'fault-on-signal.mjs'))}` }

test.each([
  ['SIGUSR2', 'unhandledRejection', { type: 'RangeError', message: 'nobody handles this' }],
  ['SIGWINCH', 'uncaughtException', { type: 'TypeError', message: 'nobody catches this' }],
] as const)('a fault in a running gateway is logged and ends it in good order: %s, %s', async (signal, origin, err) => {
  using directory = dataDirectory()
  const gateway = await startProcessGateway(faulty, { dataDir: directory.path })
  const donna = await gateway.addAgent('@donna')
  const { id } = await gateway.send(donna, 'before the fault')

  gateway.signal(signal)
  const { code, signal: killedBy, stderr } = await gateway.exited
  expect([code, killedBy]).toEqual([faultExitCode, null])
  const lines = stderr.split('\n').filter((line) => line.includes('"process.failed"'))
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'fatal', origin, count: 1, err: { ...err, stack: expect.stringContaining('fault-on-signal.mjs') } },
  ])

  await using next = await startProcessGateway({}, { dataDir: directory.path })
  const kept = await next.call('GET', `/v1/tasks/${id}`, undefined, { key: donna.key })
  expect([kept.status, kept.body.id]).toEqual([200, id])
})
