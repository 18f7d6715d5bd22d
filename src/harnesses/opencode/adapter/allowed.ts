import { realpathSync } from 'node:fs'
import { sep } from 'node:path'

/** Whether a directory is an allowed one, or below one. `allowed`: with symbolic links resolved. */
export function isAllowed(directory: string, allowed: readonly string[]): boolean {
  const real = realPath(directory)
  return allowed.some((one) => real === one || real.startsWith(`${one}${sep}`))
}

/** A path with its symbolic links resolved; a path that does not exist is returned unchanged. */
export function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
