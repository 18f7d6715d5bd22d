import { readFileSync, statSync } from 'node:fs'
import { settingList } from '../config/settings.ts'
import { openToAll } from '../lib/open-to-all.ts'
import { UsageError } from './failure.ts'
import type { Io } from './io.ts'

/** Variables that hold a secret: each may name a file in its place, as container engines provide secrets. */
export const secretVariables = settingList.filter(({ isSecret }) => isSecret).map(({ name }) => name)

/** The environment with `NAME` from the file that `NAME_FILE` names. Errors: a file that cannot be read, both of the two. */
export function withSecretFiles(env: Io['env']): Io['env'] {
  const read: Record<string, string> = {}
  for (const name of secretVariables) {
    const path = env[`${name}_FILE`]?.trim()
    if (!path) continue
    if (env[name]?.trim()) throw new UsageError(`${name} and ${name}_FILE: give one of them.`)
    read[name] = readSecret(name, path)
  }
  return { ...env, ...read }
}

/** Where container engines mount secrets: readable by all in a container, which is its gateway alone. */
const mounted = '/run/secrets/'

/** The files of secrets that every user of this machine can read, with the command that closes each. A file that is not there is left out. */
export function openSecretFiles(env: Io['env']): { variable: string; path: string; mode: string; remedy: string }[] {
  return secretVariables.flatMap((name) => {
    const path = env[`${name}_FILE`]?.trim()
    if (!path || path.startsWith(mounted)) return []
    const open = openToAll(path, statSync(path, { throwIfNoEntry: false })?.mode ?? 0)
    return open ? [{ variable: `${name}_FILE`, ...open }] : []
  })
}

function readSecret(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(`${name}_FILE: ${path} cannot be read (${code}).`, { cause: error })
  }
}
