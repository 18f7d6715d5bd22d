import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { dataDirectory } from '../../support/data-directory.ts'
import { run } from '../terminal.ts'

/** A home directory with a profile `donna`, in which harnesses are installed. */
export interface Home extends Disposable {
  readonly path: string
  readonly env: Record<string, string>
  at(...names: string[]): string
  write(name: string, text: string): string
  read(name: string): string
  rouse(...argv: string[]): ReturnType<typeof run>
}

export function makeHome(env: Record<string, string> = {}): Home {
  const directory = dataDirectory()
  const at = (...names: string[]) => join(directory.path, ...names)
  const write = (name: string, text: string) => {
    mkdirSync(dirname(at(name)), { recursive: true })
    writeFileSync(at(name), text, name.startsWith('.config/rouse') ? { mode: 0o600 } : {})
    return at(name)
  }
  const donna = { url: 'http://127.0.0.1:9', key: 'rk_secret', identity: '@donna' }
  write('.config/rouse/profiles.json', JSON.stringify({ current: 'donna', profiles: { donna } }))
  const own = { HOME: directory.path, PATH: '', ...env }
  return {
    path: directory.path,
    env: own,
    at,
    write,
    read: (name) => readFileSync(at(name), 'utf8'),
    rouse: (...argv) => run(argv, own),
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  }
}

/** Every file and directory below a path, with its content, mode and time of change: what must not change. */
export function snapshot(path: string): Record<string, unknown> {
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !/^\.config(\/rouse|$)/.test(name),
  )
  return Object.fromEntries(
    names.sort().map((name) => {
      const stats = statSync(join(path, name))
      const content = stats.isFile() ? readFileSync(join(path, name)).toString('latin1') : 'directory'
      return [name, { content, mode: stats.mode, changedAt: stats.mtimeMs }]
    }),
  )
}

/** The content of every file below a path. */
export function contents(path: string): Record<string, unknown> {
  const entries = Object.entries(snapshot(path) as Record<string, { content: string }>)
  return Object.fromEntries(entries.map(([name, { content }]) => [name, content]))
}
