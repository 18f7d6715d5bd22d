import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { DescriptorOutput } from '../../src/logger/descriptor-output.ts'

const folder = mkdtempSync(join(tmpdir(), 'rouse-log-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'log')

const dropped = (lines: number): string => `${lines} dropped\n`

test('gathers lines, and writes them in their order', () => {
  const descriptor = openSync(file, 'w')
  const output = new DescriptorOutput(descriptor, { gather: 10, dropped })
  output.write('one\n')
  expect(readFileSync(file, 'utf8')).toBe('')
  output.write('twenty\n')
  expect(readFileSync(file, 'utf8')).toBe('one\ntwenty\n')
  output.write('ü\n')
  output.flush()
  expect(readFileSync(file, 'utf8')).toBe('one\ntwenty\nü\n')
  closeSync(descriptor)
})

test('drops what cannot be written, and goes on', () => {
  const descriptor = openSync(join(import.meta.dirname, 'descriptor-output.test.ts'), 'r')
  const output = new DescriptorOutput(descriptor, { gather: 0, dropped })
  output.write('nobody reads this\n')
  output.flush()
  closeSync(descriptor)
})

test('keeps a megabyte for a slow reader, and counts what it drops', () => {
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', [path])
  const descriptor = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  const output = new DescriptorOutput(descriptor, { gather: 0, dropped })
  const line = `${'x'.repeat(999)}\n`
  const lines = 2_000
  for (let count = 0; count < lines; count++) output.write(line)
  let log = ''
  const part = Buffer.alloc(65_536)
  const read = (): number => {
    try {
      return readSync(descriptor, part)
    } catch {
      return 0
    }
  }
  for (let size = read(); size > 0; size = read()) {
    log += part.toString('utf8', 0, size)
    output.flush()
  }
  const kept = log.split('\n').filter((one) => one.length === 999).length
  expect(log.endsWith(`${lines - kept} dropped\n`)).toBe(true)
  expect(kept).toBeGreaterThan(1_000)
  output.end()
  closeSync(descriptor)
})
