import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Place } from './places.ts'

/** Where a program is, by PATH; undefined: nowhere. */
export function programPath(name: string, { env, platform }: Pick<Place, 'env' | 'platform'>): string | undefined {
  const endings = platform === 'win32' ? (env.PATHEXT ?? '.EXE;.CMD;.BAT').split(';') : ['']
  const directories = (env.PATH ?? '').split(delimiter).filter(Boolean)
  const paths = directories.flatMap((directory) => endings.map((ending) => join(directory, name + ending)))
  return paths.find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
