import { expect, test } from 'vitest'
import { directoriesOf, ttyOf } from '../../../../src/harnesses/generic/osascript/machine.ts'
import { harnessesIn } from '../../../../src/harnesses/generic/osascript/osascript-adapter.ts'
import { doneOf, missingPermission, verdictOf } from '../../../../src/harnesses/generic/osascript/verdict.ts'
import { processesOfPs } from '../../../../src/harnesses/generic/tmux/processes.ts'
import { programOf } from '../../../../src/harnesses/generic/tmux/programs.ts'
import { emptyScreen, lookOf, psOutput } from './mac.ts'

test('a harness belongs to the outermost application above it, by ps', () => {
  const processes = new Map(processesOfPs(psOutput).map((one) => [one.pid, one]))
  expect(harnessesIn(processes).map(({ name, process, application }) => [name, process.pid, application])).toEqual([
    ['claude', 703, { pid: 700, path: '/System/Applications/Utilities/Terminal.app' }],
    ['qwen', 803, { pid: 800, path: '/Applications/Visual Studio Code.app' }],
  ])
})

const wanted = { application: 'Terminal', tty: '/dev/ttys003', program: programOf('claude') }

test.each([
  ['an empty composer', lookOf(), 'ready'],
  ['another application', { isFront: false }, 'the window of Terminal is not in front'],
  ['a sheet', lookOf({ sheets: 1 }), 'a dialog of Terminal is in front'],
  ['a dialog', lookOf({ window: 'AXDialog' }), 'a dialog of Terminal is in front'],
  ['a search field', lookOf({ role: 'AXTextField' }), 'no text area has the focus'],
  ['another tab', lookOf({ tty: '/dev/ttys009' }), 'another tab of Terminal is in front'],
  ['a draft', lookOf({ value: emptyScreen.replace('❯', '❯ fix it') }), 'the composer has a draft'],
  ['a turn', lookOf({ value: `${emptyScreen}\n  esc to interrupt` }), 'the program works on a turn'],
  ['a question', lookOf({ value: 'Do you want to proceed?\n❯ 1. Yes' }), 'the program asks its user something'],
  ['another program', lookOf({ value: 'donna@mac ~ %' }), 'the screen cannot be read'],
  ['no mark', lookOf({ mark: 'x; y' }), 'what is in front cannot be read'],
])('a look at %s', (_what, seen, expected) => {
  const verdict = verdictOf(JSON.stringify(seen), wanted)
  expect(verdict.kind === 'ready' ? 'ready' : verdict.why).toBe(expected)
})

test.each(['', 'null', '{"isFront":true}', '{', '[]'])('garbage is no look, and tells no act: %s', (printed) => {
  expect(verdictOf(printed, wanted)).toMatchObject({ kind: 'held', reason: 'presence_unknown' })
  expect(doneOf(printed)).toBeUndefined()
})

test('a composer that only the cursor tells is not read', () => {
  const seen = lookOf({ value: '› \n\n  100% context left' })
  expect(verdictOf(JSON.stringify(seen), { ...wanted, program: programOf('codex') }).kind).toBe('held')
})

test.each([
  ['execution error: Error: Not authorized to send Apple events to System Events. (-1743)', 'Automation'],
  ['execution error: Error: osascript ist der Hilfszugriff nicht erlaubt. (-25211)', 'Accessibility'],
  ['execution error: osascript is not allowed assistive access. (-1719)', 'Accessibility'],
  ['execution error: Error: Invalid index. (-1719)', undefined],
  ['', undefined],
])('the remedy of: %s', (stderr, place) => {
  const remark = missingPermission(stderr)
  if (place === undefined) expect(remark).toBeUndefined()
  else expect(remark).toContain(`System Settings, Privacy & Security, ${place}.`)
})

test('lsof tells directories, and ps terminals', () => {
  expect([...directoriesOf('p703\nfcwd\nn/Users/donna/my app\np9\nfcwd\nn/\np10\nfcwd\n')]).toEqual([
    [703, '/Users/donna/my app'],
    [9, '/'],
  ])
  expect(['ttys003 \n', '??\n', ''].map(ttyOf)).toEqual(['/dev/ttys003', undefined, undefined])
})
