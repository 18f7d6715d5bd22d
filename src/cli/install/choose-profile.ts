import { hostname } from 'node:os'
import { UsageError } from '../../client/failure.ts'
import { bareHandle, type GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { operatorIdentity, type Profile, readProfiles, writeProfiles } from '../../client/profile-file.ts'

/** A profile by its name. `isNew`: it is not there yet, and will be made. */
export interface ChosenProfile extends Omit<Profile, 'key'> {
  readonly name: string
  readonly isNew?: true
}

/** The gateway that is asked, and the project that was named. */
type Place = Pick<GatewayClient, 'url' | 'project'>

interface Choice {
  /** The name of a profile that a flag gave. */
  readonly profile?: string | undefined
  /** The agent whose key is wanted. */
  readonly agent?: string | undefined
}

/**
 * Returns the profile for the harness: the named one, otherwise one of the named agent, otherwise the one in use. Another gateway or
 * project may have an agent of the same handle: its profile is taken only by its name. Errors: there is none, or it has the operator's key,
 * which is not for a harness.
 */
export function chooseProfile({ profile, agent }: Choice, { url, project }: Place, io: Io): ChosenProfile | undefined {
  const { current, byName } = readProfiles(io)
  const handle = agent === undefined ? undefined : `@${bareHandle(agent)}`
  const isThere = (one: Profile) => one.url === url && (project === undefined || one.project === project)
  const ofAgent = [...byName].filter(([, one]) => one.identity === handle && isThere(one)).map(([name]) => name)
  const byAgent = handle === undefined ? undefined : (ofAgent.find((name) => name === current) ?? ofAgent[0])
  const name = profile ?? (handle === undefined ? io.env.ROUSE_PROFILE || current : byAgent)
  if (name === undefined) return undefined
  const found = byName.get(name)
  if (!found) throw new UsageError(`There is no profile "${name}". Make it: rouse login --profile ${name}`)
  if (handle !== undefined && found.identity !== handle) {
    throw new UsageError(`Profile ${name} is of ${found.identity}, not of ${handle}.`)
  }
  if (found.identity === operatorIdentity) {
    throw new UsageError(`Profile ${name} has the operator's key. A harness gets an agent's: ${remedy}`)
  }
  const { key: _key, ...chosen } = found
  return { name, ...chosen }
}

const remedy = 'rouse login --profile donna --key-file donna.key, or --agent @donna with the operator’s key.'

/** Errors: neither a profile nor an agent was named. */
export function noProfile(): UsageError {
  return new UsageError(`Whose mail does the harness get? ${remedy}`)
}

/** The profile that `makeProfile` will make for an agent. Errors: another profile has its name. */
export function profileToMake(agent: string, { url, project }: Place, io: Io): ChosenProfile {
  const name = bareHandle(agent)
  const taken = readProfiles(io).byName.get(name)
  if (taken) {
    const whose = `${taken.identity} at ${taken.url}${taken.project === undefined ? '' : ` (project ${taken.project})`}`
    throw new UsageError(`There is a profile ${name} of ${whose}: name the one that is meant with --profile.`)
  }
  return { name, url, identity: `@${name}`, project, isNew: true }
}

/** Makes another key for an agent, and a profile with it. Errors: those of the gateway, for example where the caller's key may make none. */
export async function makeProfile(chosen: ChosenProfile, gateway: GatewayClient, io: Io): Promise<void> {
  const params = { handle: bareHandle(chosen.identity) }
  const body = { label: `harness on ${hostname()}`.slice(0, labelMax), scopes: [...harnessScopes] }
  const { apiKey, keyId } = await gateway.call('POST /v1/agents/:handle/keys', { params, body })
  try {
    keepProfile(chosen, apiKey, io)
  } catch (error) {
    // Nobody has it.
    await gateway.call('DELETE /v1/agents/:handle/keys/:keyId', { params: { ...params, keyId } })
    throw error
  }
}

/** Writes a new profile with its key. It does not become the profile in use: the operator stays the operator. */
export function keepProfile({ name, url, identity, project }: ChosenProfile, key: string, io: Io): void {
  const { current, byName } = readProfiles(io)
  const profile: Profile = { url, key, identity, ...(project === undefined ? {} : { project }) }
  writeProfiles({ current, byName: new Map([...byName, [name, profile]]) }, io.env)
}

/** Errors: there is no such agent; the gateway cannot be reached, without which no key can be made. */
export async function requireAgent(gateway: GatewayClient, identity: string): Promise<void> {
  await gateway.call('GET /v1/agents/:handle', { params: { handle: bareHandle(identity) } })
}

/** A harness makes no keys. */
const harnessScopes = ['read', 'send', 'work', 'manage'] as const
/** The longest label of a key that is surely allowed. */
const labelMax = 60
