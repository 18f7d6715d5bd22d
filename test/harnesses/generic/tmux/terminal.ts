import { execFileSync, spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { atTestEnd } from '../../../support/ends.ts'
import { until } from '../../../support/until.ts'

interface Order {
  readonly mode: 'idle' | 'busy' | 'approval' | 'garbled'
  /** Reads nothing that is typed. */
  readonly isDeaf?: boolean
  /** It is slow: it reads and shows what was typed when this is in it. */
  readonly readsAfter?: string
  readonly swallowEnters?: number
}

/** True when this machine has tmux. */
export const hasTmux = (() => {
  try {
    return execFileSync('tmux', ['-V'], { encoding: 'utf8' }).startsWith('tmux')
  } catch {
    return false
  }
})()

/** A server of tmux of its own, with a program in its first pane. It goes with the test. */
export async function openTerminal(programName = 'claude', { width = 100, height = 30 } = {}) {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'rouse-tmux-')))
  const socketPath = join(directory, 'tmux.sock')
  const cwd = join(directory, 'project')
  mkdirSync(cwd)
  const program = join(directory, programName)
  copyFileSync(resolve(import.meta.dirname, 'dummy-tui.cjs'), program)
  const tmux = (...argv: string[]) =>
    execFileSync('tmux', ['-u', '-S', socketPath, '-f', '/dev/null', ...argv], { encoding: 'utf8', env: process.env })
  const order = (next: Order) => writeFileSync(join(directory, 'order'), JSON.stringify(next))
  order({ mode: 'idle' })
  const command = `exec env TERM=screen-256color ${process.execPath} ${program} ${directory}`
  tmux('new-session', '-d', '-s', 'work', '-x', String(width), '-y', String(height), '-c', cwd, command)
  atTestEnd(() => {
    try {
      tmux('kill-server')
    } catch {
      // It has ended with its last pane.
    }
  })
  const read = (name: string) => (existsSync(join(directory, name)) ? readFileSync(join(directory, name), 'utf8') : '')
  const shows = () => JSON.parse(read('screen') || '{}') as { draft?: string; mode?: string }
  const pane = tmux('list-panes', '-a', '-F', '#{pane_id}').trim()
  await until(shows, ({ mode }) => mode === 'idle')
  return {
    cwd,
    socketPath,
    pane,
    tmux,
    /** Orders what it does next; resolves as soon as it does. */
    async order(next: Order) {
      order(next)
      await until(
        () => [shows().mode, tmux('capture-pane', '-p', '-t', pane)] as const,
        ([mode]) => mode === next.mode,
      )
    },
    /** Types as the user; resolves when it was typed, not when it is shown. */
    type: (text: string) => void tmux('send-keys', '-t', pane, '-l', '--', text),
    draft: () => shows().draft ?? '',
    submitted: () => read('submitted').split('\n').filter(Boolean),
    escapes: () => read('escapes'),
    screen: () => tmux('capture-pane', '-p', '-t', pane),
    /** Somebody looks at it. */
    attach() {
      const client = spawn('tmux', ['-S', socketPath, '-C', 'attach', '-t', 'work'], {
        stdio: ['pipe', 'ignore', 'ignore'],
      })
      atTestEnd(() => client.kill())
    },
  }
}
