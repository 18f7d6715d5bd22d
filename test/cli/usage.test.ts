import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { commandTable } from '../../src/cli/run/command-table.ts'
import { buildProgram } from '../../src/cli/run/run.ts'
import { run } from './terminal.ts'

test.each([[[]], [['help']], [['--help']]])('%j explains itself in 25 lines of 80 columns', async (argv) => {
  const { code, stdout, stderr } = await run(argv)
  expect(code).toBe(0)
  expect(stdout).toContain('Usage: rouse')
  expect(stdout).toContain('rouse agent add @donna')
  const lines = stdout.split('\n')
  expect(lines.length).toBeLessThanOrEqual(26)
  expect(lines.filter((line) => line.length > 80)).toEqual([])
  for (const { name } of commandTable) expect(stdout.split(/\s+/)).toContain(name)
  expect(stderr).toBe('')
})

test('help all has every command in its group, the common options and the exit codes', async () => {
  const { code, stdout } = await run(['help', 'all'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/Common options:[\s\S]*\nLook:\n +status .*\n[\s\S]*\nExit codes:\n/)
})

test('an option is spelled alike, with the same kind of value, in all commands', async () => {
  const program = await buildProgram({ stdout() {}, stderr() {}, env: {} })
  const flags = new Map<string, Set<string>>()
  const walk = (command: Command): void => {
    for (const { long, flags: text } of command.options) flags.set(long!, (flags.get(long!) ?? new Set()).add(text))
    for (const child of command.commands) walk(child)
  }
  walk(program)
  // Of these, the command says which kind it takes.
  for (const name of ['--scope', '--since', '--from', '--to', '--wait', '--version']) flags.delete(name)
  expect([...flags.values()].filter((texts) => texts.size > 1).map((texts) => [...texts])).toEqual([])
})

test.each([
  'serve',
  'demo',
  'send',
  'answer',
  'status',
  'tail',
  'listen',
  'health',
  'login',
  'completion',
  'logout',
  'migrate',
  'rekey',
  'apply',
  'export',
  'mail',
  'reply',
  'inbox',
  'thread',
  'mark',
  'who',
  'whoami',
  'hook',
  'install',
  'uninstall',
  'doctor',
])('%s --help has an example and exits with 0', async (name) => {
  const { code, stdout } = await run([name, '--help'])
  expect(code).toBe(0)
  expect(stdout).toMatch(new RegExp(`\\$ rouse ${name}`))
})

test.each([
  ['agent', ['add', 'list', 'show', 'update', 'rm']],
  ['agent key', ['add', 'list', 'rm']],
  ['sub', ['add', 'list', 'show', 'update', 'rm', 'resync', 'replay', 'test', 'deliveries', 'held']],
  ['task', ['list', 'show', 'move', 'artifact']],
  ['claim', ['take', 'release', 'handoff', 'list']],
  ['permission', ['add', 'list', 'rm']],
  ['grant', ['add', 'list', 'rm']],
  ['session', ['start', 'list', 'beat', 'end']],
  ['presence', ['set', 'show']],
  ['wake', ['test']],
  ['profile', ['list', 'use']],
  ['bridge', ['attach', 'wait']],
  ['project', ['add', 'limits', 'list']],
  ['admin-key', ['rotate']],
  ['card-key', ['rotate']],
])('every command of %s has an example', async (group, names) => {
  for (const name of names) {
    const { code, stdout } = await run([...group.split(' '), name, '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain(`$ rouse ${group} ${name}`)
  }
})

test('--version prints the version', async () => {
  const { code, stdout } = await run(['--version'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^\d+\.\d+\.\d+/)
})

test.each([
  ['an unknown command', ['agnt'], 'Did you mean agent?'],
  ['a group without a command', ['agent'], 'Usage: rouse agent'],
  ['an unknown option', ['agent', 'list', '--bogus'], '--bogus'],
  ['a missing argument', ['agent', 'show'], 'handle'],
  ['a missing required option', ['sub', 'add', '--target-url', 'http://x/'], '--trigger'],
  ['an unknown trigger', ['sub', 'add', '--trigger', 'X', '--target-url', 'http://x/'], 'SENT_TO_ME'],
  ['a missing webhook', ['sub', 'add', '--trigger', 'SENT_TO_ME'], '--target-url'],
  ['a window that is too long', ['sub', 'update', 'WAKE_SUB:1', '--window', '301'], 'from 0 to 300'],
  ['an update of nothing', ['sub', 'update', 'WAKE_SUB:1'], 'Nothing to change'],
  ['an agent update of nothing', ['agent', 'update', '@donna'], 'Nothing to change'],
  ['an overlap without a rotation', ['sub', 'update', 'WAKE_SUB:1', '--overlap', '5'], '--rotate-key'],
  ['a skill without an id', ['agent', 'add', '@donna', '--skill', ':x'], 'id:name:tag'],
  ['an unknown access', ['agent', 'add', '@donna', '--access', 'secret'], 'public, project, private'],
  ['a gateway address that is none', ['agent', 'list', '--url', 'nonsense'], 'nonsense'],
  ['an empty handle', ['agent', 'rm', ''], 'empty'],
  ['an id that would climb', ['sub', 'rm', '..'], 'empty'],
  ['an append to nothing', ['task', 'artifact', 't1', '--text', 'x', '--append'], '--name'],
  ['a migration without a target', ['migrate', '--from', 'sqlite', '--to', 'postgres'], 'ROUSE_DATABASE_URL'],
  ['a migration the other way', ['migrate', '--from', 'postgres', '--to', 'sqlite'], 'sqlite'],
  ['a health check without time', ['health', '--timeout', '0'], 'from 1 to 60'],
])('%s is a usage error on standard error', async (_what, argv, hint) => {
  const { code, stdout, stderr } = await run(argv)
  expect(code).toBe(2)
  expect(stdout).toBe('')
  expect(stderr).toContain(hint)
})
