import { bareHandle } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { readProfiles } from '../../client/profile-file.ts'
import { plain } from '../../client/terminal-text.ts'
import { profilesOf, readRecords } from '../../config-files/record.ts'
import type { FileWork } from './install-files.ts'

/**
 * Returns a sentence for each profile that stays of an installation that was taken away: its key is still valid. None for a profile that
 * another harness has too.
 */
export function leftProfiles(io: Io, work: readonly FileWork[]): string[] {
  const { byName } = readProfiles(io)
  const inUse = profilesOf(readRecords(io.env))
  const own = profilesOf(work.flatMap(({ file, record }) => (record ? [[file.path, record] as const] : [])))
  return [...new Set(own)].flatMap((name) => {
    const profile = byName.get(name)
    if (!profile || inUse.includes(name)) return []
    const agent = `@${bareHandle(profile.identity)}`
    return [
      `The profile ${plain(name)} stays, and its key is still valid. rouse logout --profile ${plain(name)} removes the profile; ` +
        `rouse agent key list ${plain(agent)} shows the keys, and rouse agent key rm ${plain(agent)} <id> revokes one.`,
    ]
  })
}
