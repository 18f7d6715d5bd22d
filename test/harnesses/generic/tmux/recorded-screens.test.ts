import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { programOf } from '../../../../src/harnesses/generic/tmux/programs.ts'
import { readScreen } from '../../../../src/harnesses/generic/tmux/screen.ts'
import { styledRows } from '../../../../src/harnesses/generic/tmux/styled-rows.ts'

/** Screens of the real programs, kept by `ROUSE_KEEP_SCREENS=1 npm run test:harnesses`: `codex-0.169.0-idle.txt`. */
const directory = resolve(import.meta.dirname, 'screens')

const kinds: Readonly<Record<string, string>> = {
  new: 'ready',
  idle: 'ready',
  after: 'ready',
  approved: 'ready',
  draft: 'draft',
  busy: 'busy',
  approval: 'approval',
}

test.each(readdirSync(directory))('a screen of the real program: %s', (file) => {
  const [, name = '', state = ''] = /^([a-z]+)-[\d.]+-([a-z]+)\.txt$/.exec(file) ?? []
  const [place = '', ...rows] = readFileSync(join(directory, file), 'utf8').split('\n')
  const [x = 0, y = 0] = place.split(' ').map(Number)
  expect(readScreen(styledRows(rows.join('\n')), { x, y }, programOf(name)).kind).toBe(kinds[state])
})
