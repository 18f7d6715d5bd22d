import type { Io } from '../../client/io.ts'
import { readProfiles } from '../../client/profile-file.ts'
import { profilesOf, readRecords } from '../../config-files/record.ts'
import { harnessOf } from '../../harnesses/harnesses.ts'

/** Returns a warning if other harnesses use the same agent: only the one that started last speaks for it. Source: D12. */
export function sharedAgent(io: Io, own: string, identity: string): string[] {
  const { byName } = readProfiles(io)
  const isSame = (profile: string) => byName.get(profile)?.identity === identity
  const records = [...readRecords(io.env)].filter(
    ([path, record]) => record.harness !== own && profilesOf([[path, record]]).some(isSame),
  )
  const titles = [...new Set(records.map(([, { harness }]) => harnessOf(harness)?.title ?? harness))]
  if (titles.length === 0) return []
  return [
    `${new Intl.ListFormat('en').format(titles)} can speak for ${identity} too, but only the one that started last does. Give each its own agent: --agent <handle>.`,
  ]
}
