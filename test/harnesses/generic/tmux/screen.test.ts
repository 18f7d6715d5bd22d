import { expect, test } from 'vitest'
import { programOf } from '../../../../src/harnesses/generic/tmux/programs.ts'
import { readScreen } from '../../../../src/harnesses/generic/tmux/screen.ts'
import { styledRows, textOf } from '../../../../src/harnesses/generic/tmux/styled-rows.ts'

const rule = '─'.repeat(60)
const dim = (text: string) => `\u001b[2m${text}\u001b[0m`
const cursor = (text: string) => `\u001b[7m${text}\u001b[27m`
const framed = (composer: string, ...above: string[]) => [...above, '', rule, composer, rule, '  ? for shortcuts']
const boxed = (composer: string) => ['╭──────────╮', `│ ${composer} │`, '╰──────────╯', '', '  ~/project   no sandbox']

const read = (name: string, lines: readonly string[], at = { x: 2, y: 1 }) =>
  readScreen(styledRows(`${lines.join('\n')}\n\n\n`), at, programOf(name))

const cases: [string, string, readonly string[], string][] = [
  ['claude', 'an empty composer', framed('❯\u00a0'), 'ready'],
  ['claude', 'a placeholder', framed(`❯\u00a0${cursor('T')}${dim('ry "fix lint errors"')}`), 'ready'],
  ['claude', 'the older box', boxed(`> ${dim('Try "fix lint errors"')}`), 'ready'],
  ['claude', 'a draft', framed('❯\u00a0fix it'), 'draft'],
  ['claude', 'a draft of one letter, with the cursor on it', framed(`❯\u00a0${cursor('x')}`), 'draft'],
  ['claude', 'a draft with a suggestion after it', framed(`❯\u00a0fix${dim(' lint errors')}`), 'draft'],
  ['claude', 'a draft whose first line is empty', ['', rule, '❯\u00a0', '  second', rule], 'draft'],
  ['claude', 'the words of a question in a draft', framed('❯\u00a0Do you want to proceed?'), 'draft'],
  ['claude', 'a turn', framed('❯\u00a0', '✻ Thinking… (3s · esc to interrupt)'), 'busy'],
  ['claude', 'a question', [' Do you want to proceed?', ' ❯ 1. Yes', '   2. No', '', ' Esc to cancel'], 'approval'],
  ['claude', 'a composer that is cut off', [rule, '❯\u00a0'], 'unreadable'],
  ['claude', 'a prompt of the transcript', ['❯ fix it', '', '⏺ Done.'], 'unreadable'],
  ['claude', 'another mode of the composer', framed('!\u00a0'), 'unreadable'],
  ['claude', 'nothing', [], 'unreadable'],
  [
    'codex',
    'a placeholder',
    ['› earlier', '', `› ${dim('Ask Codex to do anything')}`, '', '  100% context left'],
    'ready',
  ],
  ['codex', 'a draft', ['', '› fix it', '', '  100% context left'], 'draft'],
  ['codex', 'a draft that begins with empty lines', ['', '› ', '', '  third', '', '  gpt-5'], 'unreadable'],
  ['codex', 'a turn', ['• Working (3s • esc to interrupt)', '', `› ${dim('Ask')}`, ''], 'busy'],
  [
    'codex',
    'a question',
    ['  Would you like to run the following command?', '› 1. Yes, proceed (y)', '  2. No'],
    'approval',
  ],
  ['qwen', 'a placeholder', boxed('>   Type your message or @path/to/file'), 'ready'],
  ['qwen', 'a draft', boxed('>   fix it'), 'draft'],
  [
    'qwen',
    'a composer without a frame',
    [rule, '>   Type your message or @path/to/file', rule, '  Auto mode'],
    'ready',
  ],
  ['qwen', 'a cursor that is no character', [rule, '> \u001b[4m \u200b\u001b[0m', rule], 'ready'],
  ['qwen', 'a question', ['Allow execution of: ls?', '● 1. Yes, allow once', '  2. No'], 'approval'],
  ['gemini', 'a placeholder', ['▄▄▄▄▄▄', ' > Type your message or @path/to/file', '▀▀▀▀▀▀'], 'ready'],
  ['gemini', 'a turn', ['⠏ Looking (esc to cancel, 3s)', ...boxed('>   Type your message or @path/to/file')], 'busy'],
]

test.each(cases)('%s: %s', (name, _what, lines, kind) => {
  const y = lines.findLastIndex((line) => line.startsWith('› '))
  // The cursor of a draft stands where its user types.
  const at = { x: 2, y: lines.includes('  third') ? y + 2 : y }
  expect(read(name, lines, at).kind).toBe(kind)
})

test('a style goes on in the next row, and what is no character is left out', () => {
  const rows = styledRows('\u001b]8;;http://x\u001b\\a\u001b[38;5;2mb\u001b[2mc\nd\u001b[22;38;2;2;7;2me\u000e\n')
  expect(rows.map(textOf)).toEqual(['abc', 'de'])
  expect(rows.flat().map(({ isDim, isInverse }) => [isDim, isInverse])).toEqual([
    [false, false],
    [false, false],
    [true, false],
    [true, false],
    [false, false],
  ])
})
