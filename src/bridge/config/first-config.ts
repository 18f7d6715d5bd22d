import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { UsageError } from '../../client/failure.ts'
import type { Profiles } from '../../client/profile-file.ts'
import { operatorIdentity } from '../../words/callers.ts'
import type { AdapterId } from '../adapter.ts'

/** A configuration as its user writes it. */
export interface FirstConfig {
  readonly agents: readonly {
    readonly profile: string
    readonly harnesses: readonly AdapterId[]
    readonly directories: readonly string[]
    readonly approvals?: true
  }[]
}

/**
 * A first configuration: the agents of the profiles, the harnesses that are there, one directory. A harness in which `rouse install` has
 * named profiles (`speakers`) is for those alone; an agent that is left with none is left out, unless all are. Pure. Errors: there is no
 * profile of an agent, or no harness.
 */
export function firstConfig(
  profiles: Profiles,
  harnesses: readonly AdapterId[],
  directory: string,
  speakers: ReadonlyMap<string, readonly string[]> = new Map(),
): FirstConfig {
  const agents = new Map<string, string[]>()
  for (const [name, { identity, url, project = '' }] of profiles.byName) {
    const agent = `${identity} ${project} ${url}`
    if (identity !== operatorIdentity) agents.set(agent, [...(agents.get(agent) ?? []), name])
  }
  if (agents.size === 0) {
    throw new UsageError(
      'There is no profile of an agent. Make one with the key of the agent: rouse login --profile donna --key-file donna.key',
    )
  }
  if (harnesses.length === 0) {
    throw new UsageError(
      'No harness that the bridge reaches was found here. Install one, or write the configuration by hand: docs/cli.md',
    )
  }
  const isFor = (harness: AdapterId, names: readonly string[]) => {
    const named = speakers.get(harness) ?? []
    return named.length === 0 || names.some((name) => named.includes(name))
  }
  const all = [...agents.values()].map((names) => {
    const own = harnesses.filter((harness) => isFor(harness, names))
    return { profile: names[0]!, harnesses: own, directories: [directory] }
  })
  const reached = all.filter((agent) => agent.harnesses.length > 0)
  return { agents: reached.length > 0 ? reached : all.map((agent) => ({ ...agent, harnesses })) }
}

/** Writes a configuration that is not there yet. Errors: it is there; of the file system. */
export function writeFirstConfig(path: string, config: FirstConfig): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  try {
    writeFileSync(path, `${JSON.stringify(config, null, 2)}\n`, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new UsageError(
      `${path} is there already, and is not overwritten. Add another agent with: rouse bridge add <handle> <harness>`,
      { cause: error },
    )
  }
}
