import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { until } from '../support/until.ts'
import type { Look } from './screens.ts'

const endMaxMs = 5_000
/** Keys that come faster are taken for a paste, and their Enter for a new line. */
const typingMs = 250

/** True when this machine has a terminal for programs that want one. */
export function hasTerminal(): boolean {
  try {
    execFileSync('tmux', ['-V'])
    return true
  } catch {
    console.warn('skipped: tmux is not on this machine')
    return false
  }
}

/** A program in a terminal of its own, as a user has it. Disposing it ends the program. */
export class Terminal implements AsyncDisposable {
  readonly #name = `rouse-test-${randomBytes(4).toString('hex')}`
  readonly #env: Record<string, string>
  readonly pid: number

  constructor(command: readonly string[], cwd: string, env: Record<string, string>) {
    this.#env = { ...env, TERM: 'xterm-256color', LANG: 'C.UTF-8' }
    const words = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
    this.#tmux('new-session', '-d', '-s', 'main', '-x', '120', '-y', '40', '-c', cwd, `exec ${words}`)
    this.pid = Number(this.#tmux('list-panes', '-F', '#{pane_pid}'))
  }

  get text(): string {
    return this.#tmux('capture-pane', '-p', '-t', 'main')
  }

  /** The socket of its server of tmux. */
  get socketPath(): string {
    return this.#tmux('display-message', '-p', '#{socket_path}')
  }

  /** The screen with its styles, and where the cursor stands. */
  look(): Look {
    const format = '#{cursor_x} #{cursor_y}'
    const output = this.#tmux(
      'display-message',
      '-p',
      '-t',
      'main',
      format,
      ';',
      'capture-pane',
      '-e',
      '-p',
      '-t',
      'main',
    )
    const [place = '', ...rows] = output.split('\n')
    const [x = 0, y = 0] = place.split(' ').map(Number)
    return { cursor: { x, y }, screen: rows.join('\n') }
  }

  shows(text: string, timeoutMs = 20_000): Promise<string> {
    return until(
      () => this.text,
      (screen) => screen.includes(text),
      timeoutMs,
    )
  }

  /** Types a text, and Enter where it is a prompt. */
  async type(text: string, { enter = true } = {}): Promise<void> {
    this.#tmux('send-keys', '-t', 'main', '-l', text)
    await this.shows(text.slice(0, 40))
    if (!enter) return
    await new Promise((resolve) => setTimeout(resolve, typingMs))
    this.key('Enter')
  }

  /** Presses a key, by its name in tmux. */
  key(name: string): void {
    this.#tmux('send-keys', '-t', 'main', name)
  }

  /** Ends the program as a closed window does. */
  async [Symbol.asyncDispose](): Promise<void> {
    signal(this.pid, 'SIGTERM')
    const isGone = () => !existsSync(`/proc/${this.pid}`)
    await until(isGone, Boolean, endMaxMs).catch(() => signal(this.pid, 'SIGKILL'))
    try {
      this.#tmux('kill-server')
    } catch {
      // It has ended with its last window.
    }
  }

  #tmux(...argv: string[]): string {
    const command = ['-L', this.#name, '-f', '/dev/null', ...argv]
    return execFileSync('tmux', command, { env: this.#env, encoding: 'utf8', stdio: 'pipe' }).trimEnd()
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended.
  }
}
