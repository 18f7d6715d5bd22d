import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Io } from '../../../client/io.ts'

/** Whether OpenCode has been used by this user: its first start makes one of its directories. */
export function isUsedHere({ HOME, XDG_CONFIG_HOME, XDG_DATA_HOME }: Io['env']): boolean {
  const homes = [
    XDG_CONFIG_HOME || (HOME && join(HOME, '.config')),
    XDG_DATA_HOME || (HOME && join(HOME, '.local/share')),
  ]
  return homes.some((home) => home && existsSync(join(home, 'opencode')))
}
