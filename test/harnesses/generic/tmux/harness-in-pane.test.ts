import { expect, test } from 'vitest'
import { harnessIn } from '../../../../src/harnesses/generic/tmux/harness-in-pane.ts'
import { type Process, readProcesses } from '../../../../src/harnesses/generic/tmux/processes.ts'
import { programNames } from '../../../../src/harnesses/generic/tmux/programs.ts'

const of = (pid: number, parent: number, argv: string, isForeground = true): [number, Process] => [
  pid,
  { pid, parent, argv: argv.split(' '), isForeground, startedAt: 0 },
]

const shell = of(1, 0, '-bash', false)

test.each([
  ['the program itself', [shell, of(2, 1, 'claude')], 'claude 2'],
  [
    'a script of Node',
    [shell, of(2, 1, 'node --max-old-space-size=8192 /opt/node_modules/@qwen-code/qwen-code/cli.js')],
    'qwen 2',
  ],
  [
    'one that starts itself again',
    [shell, of(2, 1, 'node /usr/bin/codex'), of(3, 2, '/opt/@openai/codex-linux-x64/vendor/bin/codex')],
    'codex 3',
  ],
  ['one that another has started', [shell, of(2, 1, 'claude'), of(3, 2, 'codex exec x')], 'claude 2'],
  ['one that is suspended', [shell, of(2, 1, 'claude', false)], 'none'],
  ['an editor in front of it', [shell, of(2, 1, 'claude', false), of(3, 2, 'vim /tmp/claude-prompt.md')], 'none'],
  ['a file of that name', [shell, of(2, 1, 'vim /usr/bin/claude')], 'none'],
  ['a pane that is gone', [], 'none'],
])('the harness of a pane: %s', (_what, processes, expected) => {
  const found = harnessIn(1, new Map(processes), programNames)
  expect(found ? `${found.name} ${found.process.pid}` : 'none').toBe(expected)
})

test('the processes of this machine have their parents, starts and commands', () => {
  const own = readProcesses().get(process.pid)!
  expect(own).toMatchObject({ parent: process.ppid, argv: expect.arrayContaining([expect.stringContaining('node')]) })
  expect(Math.abs(Date.now() - process.uptime() * 1_000 - own.startedAt)).toBeLessThan(5_000)
})
