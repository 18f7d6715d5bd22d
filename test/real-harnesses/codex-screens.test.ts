import { describe, expect, test } from 'vitest'
import { programOf } from '../../src/harnesses/generic/tmux/programs.ts'
import { type Reading, readScreen } from '../../src/harnesses/generic/tmux/screen.ts'
import { styledRows } from '../../src/harnesses/generic/tmux/styled-rows.ts'
import { until } from '../support/until.ts'
import { openDesk } from './codex-desk.ts'
import { program, versionOf } from './programs.ts'
import { keepScreen } from './screens.ts'
import { hasTerminal, type Terminal } from './terminal.ts'

const codex = program('codex')

describe.skipIf(codex === undefined || !hasTerminal())('The screens of Codex', () => {
  test('are read by the tmux adapter: idle, a draft, a turn, an approval', async () => {
    await using desk = await openDesk(codex!)
    const terminal = await desk.openTerminal()
    const reads = async (kind: Reading['kind'], name: string = kind) => {
      await until(
        () => readingOf(terminal).kind,
        (now) => now === kind,
      )
      keepScreen(`codex-${versionOf('codex')}-${name}`, terminal.look())
    }
    await reads('ready', 'new')
    await terminal.type('first prompt')
    await until(() => desk.turnsWith('first prompt'), Boolean)
    await reads('ready', 'idle')
    await terminal.type('half a thought', { enter: false })
    await reads('draft')
    expect(readingOf(terminal).text).toBe('half a thought')
    terminal.key('C-u')
    await terminal.type('HOLD')
    await reads('busy')
    // It is at work before its model is prompted.
    await desk.turnsOnceWith('HOLD')
    desk.release()
    await reads('ready', 'after')
    await terminal.type('ASK')
    await reads('approval')
    terminal.key('y')
    await reads('ready', 'approved')
  })
})

function readingOf(terminal: Terminal): Reading {
  const { screen, cursor } = terminal.look()
  return readScreen(styledRows(screen), cursor, programOf('codex'))
}
