import { realpathSync } from 'node:fs'
import { isWithin } from '../../target/choose-session.ts'

/** Whether a conversation works where its user has allowed it, behind symbolic links too. */
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
