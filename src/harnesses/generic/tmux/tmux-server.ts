import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Io } from '../../../client/io.ts'
import type { Cursor } from './screen.ts'

const run = promisify(execFile)

/** A server that hangs is given up. */
const callMsMax = 5_000
const outputMax = 4 * 1024 * 1024

/** One look at a pane: its cursor and its screen belong together. */
export interface Look {
  readonly cursor: Cursor
  /** It shows its history, and takes keys for that. */
  readonly isInMode: boolean
  /** The screen with its styles. */
  readonly screen: string
}

export interface Pane {
  /** `%3` */
  readonly id: string
  /** The process that tmux has started in it. */
  readonly pid: number
  readonly cwd: string
}

/** The calls of tmux that are needed here. Errors: no tmux, no server, no such pane. */
export class TmuxServer {
  readonly #env: Io['env']
  readonly #socket: readonly string[]

  constructor(env: Io['env'], socketPath: string | undefined) {
    this.#env = env
    this.#socket = socketPath === undefined ? [] : ['-S', socketPath]
  }

  /** `3.3a` */
  async version(): Promise<string> {
    return (await this.#call('-V')).replace(/^tmux (next-)?/, '').trim()
  }

  async panes(): Promise<Pane[]> {
    const lines = await this.#call('list-panes', '-a', '-F', '#{pane_id}\t#{pane_pid}\t#{pane_current_path}')
    return lines.split('\n').flatMap((line) => {
      const [id, pid, cwd = ''] = line.split('\t')
      return id !== undefined && /^%\d+$/.test(id) ? [{ id, pid: Number(pid), cwd }] : []
    })
  }

  async look(pane: string): Promise<Look> {
    const format = '#{cursor_x} #{cursor_y} #{pane_in_mode}'
    const screen = ['capture-pane', '-e', '-p', '-t', pane]
    const output = await this.#call('display-message', '-p', '-t', pane, format, ';', ...screen)
    const end = output.indexOf('\n')
    const [x, y, mode] = output.slice(0, end).split(' ').map(Number)
    return { cursor: { x: x!, y: y! }, isInMode: mode !== 0, screen: output.slice(end + 1) }
  }

  /** When a key was last pressed at a terminal that shows this pane, in seconds since the epoch; undefined: none shows it. */
  async lastKeyAt(pane: string): Promise<number | undefined> {
    const lines = await this.#call('list-clients', '-F', '#{pane_id} #{client_activity}')
    const times = lines.split('\n').map((line) => line.split(' '))
    const here = times.filter(([id]) => id === pane).map(([, time]) => Number(time))
    return here.length > 0 ? Math.max(...here) : undefined
  }

  async leaveMode(pane: string): Promise<void> {
    await this.#call('send-keys', '-t', pane, '-X', 'cancel')
  }

  /** Types a line if the cursor still stands where it was seen; false: it does not, and nothing was typed. */
  type(pane: string, line: string, cursor?: Cursor): Promise<boolean> {
    // Nothing is special to tmux between single quotes, and the line has none.
    return this.#keys(pane, `-l -- '${line}'`, cursor)
  }

  /** Presses a key, in the same way. */
  press(pane: string, key: 'Enter' | 'BSpace', times: number, cursor?: Cursor): Promise<boolean> {
    return this.#keys(pane, `-N ${times} ${key}`, cursor)
  }

  /** Sets the value of an option of the pane to `to` if it is `from`; returns what it is then. The server does it in one step. */
  async swap(pane: string, option: string, from: string, to: string): Promise<string> {
    const set = to === '' ? `set-option -p -t ${pane} -u ${option}` : `set-option -p -t ${pane} ${option} ${to}`
    const read = ['display-message', '-p', '-t', pane, `#{${option}}`]
    return (await this.#call('if-shell', '-F', '-t', pane, `#{==:#{${option}},${from}}`, set, ';', ...read)).trim()
  }

  async #keys(pane: string, what: string, cursor: Cursor | undefined): Promise<boolean> {
    const conditions = ['#{==:#{pane_in_mode},0}']
    if (cursor) conditions.push(`#{==:#{cursor_x},${cursor.x}}`, `#{==:#{cursor_y},${cursor.y}}`)
    const condition = conditions.reduce((all, one) => `#{&&:${all},${one}}`)
    const send = `send-keys -t ${pane} ${what} ; display-message -p sent`
    const output = await this.#call('if-shell', '-F', '-t', pane, condition, send, 'display-message -p kept')
    return output.trim() === 'sent'
  }

  async #call(...argv: string[]): Promise<string> {
    const env = { ...this.#env, LC_ALL: 'C.UTF-8' }
    const options = { env, timeout: callMsMax, maxBuffer: outputMax, encoding: 'utf8' } as const
    const { stdout } = await run('tmux', ['-u', ...this.#socket, ...argv], options)
    return stdout
  }
}
