import type { Io } from '../../client/io.ts'
import { readProfiles } from '../../client/profile-file.ts'
import { sleep, systemClock } from '../../lib/clock.ts'
import type { BridgedAgent } from '../config/bridge-config.ts'

type NamedProfile = BridgedAgent['profile']

const lookEveryMs = 2_000

/** Waits until a profile has another key: its user has logged in again. undefined: the signal of the bridge has aborted. */
export async function anotherKey(io: Io, { name, key, url }: NamedProfile): Promise<NamedProfile | undefined> {
  while (!io.signal?.aborted) {
    await sleep(systemClock, lookEveryMs, io.signal)
    const profile = read(io, name)
    if (profile && (profile.key !== key || profile.url !== url)) return { name, ...profile }
  }
  return undefined
}

/** A file that is being written, or cannot be read now, is read again. */
function read(io: Io, name: string) {
  try {
    return readProfiles(io).byName.get(name)
  } catch {
    return undefined
  }
}
