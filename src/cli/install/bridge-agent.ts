import { Refused, UsageError } from '../../client/failure.ts'
import { bareHandle, type GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { handleOf, isHandle } from '../team/addresses.ts'
import { type ChosenProfile, chooseProfile, keepProfile, makeProfile, profileToMake } from './choose-profile.ts'

/** The profile under which the bridge speaks for an agent, and where its key is from. */
export interface AgentProfile {
  readonly profile: ChosenProfile
  /** `caller`: the key of this command is the agent's own, and makes no others. `new-agent`: it is registered first. */
  readonly key: 'profile' | 'caller' | 'new-key' | 'new-agent'
}

/** Finds a profile of the agent, or the way to one. Changes nothing. Errors: see `chooseProfile`; those of the gateway. */
export async function findAgentProfile(
  io: Io,
  given: string,
  name: string | undefined,
  gateway: GatewayClient,
): Promise<AgentProfile> {
  const handle = requireHandle(given)
  const own = chooseProfile({ profile: name, agent: handle }, gateway, io)
  if (own) return { profile: own, key: 'profile' }
  const found = await handleOnGateway(gateway, handle)
  if (found === undefined) return { profile: profileToMake(handle, gateway, io), key: 'new-agent' }
  // An alias was given.
  const known = chooseProfile({ agent: found }, gateway, io)
  if (known) return { profile: known, key: 'profile' }
  const { identity, expiresAt, scopes } = await gateway.call('GET /v1/whoami')
  if (identity === found && expiresAt !== undefined) {
    // So do the keys that it makes.
    throw new UsageError(
      `The key of ${found} expires at ${expiresAt}, and the bridge would stop. Use one that does not, or the operator's.`,
    )
  }
  const isKept = identity === found && !scopes.includes('mint')
  return { profile: profileToMake(found, gateway, io), key: isKept ? 'caller' : 'new-key' }
}

/** The handle that a person or a gateway has given: it becomes the name of a profile. */
function requireHandle(text: string): string {
  const handle = handleOf(text)
  if (isHandle(handle)) return handle
  throw new UsageError(`<handle>: ${JSON.stringify(text)} is not a handle. Write donna or @donna.`)
}

async function handleOnGateway(gateway: GatewayClient, handle: string): Promise<string | undefined> {
  try {
    const agent = await gateway.call('GET /v1/agents/:handle', { params: { handle: bareHandle(handle) } })
    return requireHandle(agent.handle)
  } catch (error) {
    if (error instanceof Refused && error.problem.code === 'agent-not-found') return undefined
    throw error
  }
}

/** Makes the profile, and before it the agent, where there is none yet. Errors: those of the gateway. */
export async function makeAgentProfile(io: Io, { profile, key }: AgentProfile, gateway: GatewayClient): Promise<void> {
  if (key === 'profile') return
  if (key === 'caller') return keepProfile(profile, (await gateway.credentials()).key ?? '', io)
  if (key === 'new-key') return makeProfile(profile, gateway, io)
  const { agent, keyId } = await gateway.call('POST /v1/agents', { body: { handle: profile.identity } })
  try {
    await makeProfile(profile, gateway, io)
  } finally {
    // The first key of an agent may make others. Nobody keeps it.
    const params = { handle: bareHandle(agent.handle), keyId }
    await gateway.call('DELETE /v1/agents/:handle/keys/:keyId', { params })
  }
}
