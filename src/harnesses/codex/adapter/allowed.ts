import { realpathSync } from 'node:fs'
import { isWithin } from '../../../bridge/target/choose-session.ts'

/** True when a conversation works in an allowed directory. Symbolic links are resolved. */
export function isAllowed(cwd: string, directories: readonly string[]): boolean {
  return isWithin(cwd, directories) || isWithin(realPath(cwd), directories)
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
