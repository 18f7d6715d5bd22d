import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { DescriptorOutput } from '../../src/logging/descriptor-output.ts'

const folder = mkdtempSync(join(tmpdir(), 'rouse-log-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'log')

test('gathers lines, and writes them in their order', () => {
  const descriptor = openSync(file, 'w')
  const output = new DescriptorOutput(descriptor, 10)
  output.write('one\n')
  expect(readFileSync(file, 'utf8')).toBe('')
  output.write('twenty\n')
  expect(readFileSync(file, 'utf8')).toBe('one\ntwenty\n')
  output.write('ü\n')
  output.flushSync()
  expect(readFileSync(file, 'utf8')).toBe('one\ntwenty\nü\n')
  closeSync(descriptor)
})

test('drops what cannot be written, and goes on', () => {
  const descriptor = openSync(join(import.meta.dirname, 'descriptor-output.test.ts'), 'r')
  const output = new DescriptorOutput(descriptor, 0)
  output.write('nobody reads this\n')
  output.flushSync()
  closeSync(descriptor)
})
