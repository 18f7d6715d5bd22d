import { realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, parse } from 'node:path'
import type { Io } from '../../client/io.ts'

/**
 * The directory that a user has written, absolute, with `~` and symbolic links resolved; a text: what is wrong with it. Conversations
 * in it, and below it, are reached.
 */
export function allowedDirectory(
  written: unknown,
  { HOME, USERPROFILE }: Io['env'],
): { readonly path: string } | { readonly problem: string } {
  if (typeof written !== 'string' || written === '') return { problem: 'must be the path of a directory.' }
  const home = HOME || USERPROFILE
  const isOfHome = written === '~' || written.startsWith('~/')
  if (isOfHome && !home) return { problem: `${written}: there is no home directory. Write the whole path.` }
  const path = isOfHome ? join(home!, written.slice(1)) : written
  if (!isAbsolute(path)) return { problem: `${written} is relative. Write the whole path, or begin with ~/.` }
  try {
    const real = realpathSync(path)
    if (!statSync(real).isDirectory()) return { problem: `${written} is a file. Name the directory of a conversation.` }
    // Every conversation of every agent on this machine.
    if (real === parse(real).root)
      return { problem: `${written} is everything. Name the directories of your projects.` }
    return { path: real }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return { problem: `${written} cannot be looked at (${code}). Make it, or take it out.` }
  }
}
