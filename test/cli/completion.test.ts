import { expect, test } from 'vitest'
import { offered } from './bash.ts'
import { run } from './terminal.ts'

const scriptFor = async (shell: string) => {
  const { code, stdout } = await run(['completion', shell])
  expect(code).toBe(0)
  return stdout
}

test.each([
  [['agen'], ['agent']],
  [
    ['agent', 'key', ''],
    ['add', 'list', 'rm', '--help'],
  ],
  [['agent', 'key', 'add', '--sc'], ['--scope']],
  [['--url', 'http://x', 'sub', 'rep'], ['replay']],
  [['sub', 'add', '--target', 'b'], ['bridge-daemon']],
  [['presence', 'set', 'wait'], ['waitingOnApproval']],
  [['mail', '@donna', '--key'], ['--key-file']],
  [['task', 'list', '--state', 'input'], ['input-required']],
  [['install', 'cla'], ['claude']],
  [
    ['bridge', 'a'],
    ['acp', 'add'],
  ],
  // Names of files are the shell's.
  [['mail', '@donna', '--file', ''], []],
])('bash completes %j to %j', async (words, expected) => {
  expect(await offered(words)).toEqual(expected)
})

test.each(['bash', 'zsh', 'fish'])('the script for %s names every command and no hidden option', async (shell) => {
  const script = await scriptFor(shell)
  for (const word of ['session', 'presence', 'replay', 'waitingOnApproval', 'key-file']) expect(script).toContain(word)
  expect(script).not.toMatch(/signing-key[ '"](?!file)|--key['" ]/)
})

test('a quote in a description ends no string', async () => {
  expect(await scriptFor('zsh')).toContain("key'\\''s agent")
  expect(await scriptFor('fish')).toContain("key\\'s agent")
})

test('another shell is a usage error that names those that there are', async () => {
  const { code, stderr } = await run(['completion', 'tcsh'])
  expect([code, stderr]).toEqual([2, expect.stringContaining('bash, zsh, fish')])
})
