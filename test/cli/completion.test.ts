import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dataDirectory } from '../support/data-directory.ts'
import { run } from './terminal.ts'

const scriptFor = async (shell: string) => {
  const { code, stdout } = await run(['completion', shell])
  expect(code).toBe(0)
  return stdout
}

/** Returns the words that bash offers after these, the last of which is being typed. */
async function offered(words: string[]): Promise<string[]> {
  using directory = dataDirectory()
  const path = join(directory.path, 'rouse.bash')
  const list = words.map((word) => `'${word}'`).join(' ')
  writeFileSync(
    path,
    `${await scriptFor('bash')}\nCOMP_WORDS=(rouse ${list}); COMP_CWORD=${words.length}; _rouse; printf '%s\\n' "\${COMPREPLY[@]}"\n`,
  )
  return execFileSync('bash', ['--norc', path], { encoding: 'utf8' }).split('\n').filter(Boolean)
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
