import { readFileSync } from 'node:fs'
import { isOpenToOthers } from '../security/private-files.ts'
import { UsageError } from './failure.ts'
import type { Io } from './io.ts'
import { secretVariables } from './secret-files.ts'

/** Our variables that hold a secret, or may. Commands that we start do not get them. */
export const withheldVariables = [...secretVariables, 'ROUSE_KEY', 'PGPASSWORD']

/** An environment without our secrets. */
export function withoutSecrets(env: Io['env']): Record<string, string | undefined> {
  return { ...env, ...Object.fromEntries(withheldVariables.map((name) => [name, undefined])) }
}

/** A secret from a file, or from standard input for `-`. Says on standard error when other users may read the file. */
export function readSecret(path: string, flag: string, io: Io): string {
  const secret = path === '-' ? io.stdin?.() : readFile(path, flag)
  const text = secret?.trim()
  if (!text || /\s/.test(text)) {
    throw new UsageError(`${flag}: ${path === '-' ? 'standard input' : path} does not hold one key and nothing else.`)
  }
  if (path !== '-' && isOpenToOthers(path)) {
    io.stderr(`warning: every user of this machine may read ${path}: chmod 600 ${path}\n`)
  }
  return text
}

/** Warns of a secret on the command line: other users see it in the list of processes, and the shell's history keeps it. */
export function warnOfFlag(io: Io, flag: string, instead: string): void {
  io.stderr(`warning: ${flag} shows a secret to every user of this machine. Use ${instead} instead.\n`)
}

/** Warns of a URL on the command line that holds a password. */
export function warnOfPassword(io: Io, flag: string, variable: string, url: string | undefined): void {
  if (url === undefined || !URL.canParse(url) || new URL(url).password === '') return
  warnOfFlag(io, `the password in ${flag}`, variable)
}

function readFile(path: string, flag: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`${flag}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`, {
      cause: error,
    })
  }
}
