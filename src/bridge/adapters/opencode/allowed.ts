import { realpathSync } from 'node:fs'
import { sep } from 'node:path'

/** Whether a directory is one of those that the user has allowed, or below one; those have their links resolved. */
export function isAllowed(directory: string, allowed: readonly string[]): boolean {
  const real = realPath(directory)
  return allowed.some((one) => real === one || real.startsWith(`${one}${sep}`))
}

/** A path with its links resolved; one that is not there as it is. */
export function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
