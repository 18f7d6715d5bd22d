import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { dataDirectory } from '../support/data-directory.ts'
import { rouseWords } from '../support/program/rouse-words.ts'
import { run } from './terminal.ts'

/**
 * Returns the words that bash offers for a line, the last word of which is being typed; each stands in the place of what follows the last
 * colon. `rouse` is a process of its own, with `env`.
 */
export async function offered(words: readonly string[], env: Record<string, string> = {}): Promise<string[]> {
  using directory = dataDirectory()
  const { stdout: completion } = await run(['completion', 'bash'])
  const own = [process.execPath, ...rouseWords()].map((word) => `'${word}'`).join(' ')
  writeFileSync(join(directory.path, 'rouse'), `#!/bin/sh\nexec ${own} "$@"\n`, { mode: 0o755 })
  const path = join(directory.path, 'rouse.bash')
  // As readline splits it, an @ stays with the word that is completed.
  writeFileSync(path, `${completion}\n_rouse rouse "$1"; printf '%s\\n' "$\{COMPREPLY[@]}"\n`)
  const line = ['rouse', ...words].join(' ')
  const all = {
    HOME: '/nonexistent',
    ...env,
    PATH: `${directory.path}${delimiter}${process.env.PATH}`,
    COMP_LINE: line,
    COMP_POINT: String(line.length),
  }
  const part = words.at(-1)!.split(/[:=]/).at(-1)!
  const { stdout } = await promisify(execFile)('bash', ['--norc', path, part], { env: all })
  return stdout.split('\n').filter(Boolean)
}
