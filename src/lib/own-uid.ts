import { statSync } from 'node:fs'
import { userInfo } from 'node:os'

/**
 * Returns the uid of this process; -1 where users have none (Windows). A container may run as a user that has no line in `passwd`: Node cannot
 * say who that is, but its files can.
 */
export function ownUid(): number {
  try {
    return userInfo().uid
  } catch {
    return statSync('/proc/self').uid
  }
}
