import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startProcessGateway } from '../../support/process-gateway.ts'
import { buildWords } from '../../support/program/rouse-words.ts'
import { until } from '../../support/until.ts'

/** Of Node 22.15 and later. Without it V8's own limit stands. */
const canReplace = 'execve' in process
const flag = '--max-semi-space-size=16'
const wordsOf = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
const [, ...withoutFlags] = buildWords()

test.runIf(process.platform === 'linux')(
  'a gateway bounds its young generation where Node can, and keeps its process id',
  async () => {
    await using gateway = await startProcessGateway({}, { words: withoutFlags })
    expect(wordsOf(gateway.pid).includes(flag)).toBe(canReplace)
  },
)

test.runIf(process.platform === 'linux')('what the user says of the young generation stands', async () => {
  await using gateway = await startProcessGateway({ NODE_OPTIONS: '--max-semi-space-size=24' }, { words: withoutFlags })
  expect(wordsOf(gateway.pid)).not.toContain(flag)
})

test.runIf(process.platform === 'linux' && canReplace)('what a start needed is given back at once', async () => {
  await using gateway = await startProcessGateway({}, { words: withoutFlags })
  const residentMB = () =>
    Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${gateway.pid}/status`, 'utf8'))![1]) / 1024
  expect(await until(residentMB, (now) => now < 115)).toBeLessThan(115)
})
