import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import type { Profile, Profiles } from '../../client/profile-file.ts'
import { gatewayUrl } from './gateway-address.ts'

/** The options that every command for a gateway has. */
export interface AccessOptions {
  key?: string
  keyFile?: string
  url?: string
  project?: string
  profile?: string
}

/** Which gateway a command calls, in which project, and the profile whose key it uses; without one, the other sources of keys. */
export interface Access {
  readonly url: string
  readonly project: string | undefined
  readonly profile: (Profile & { readonly name: string }) | undefined
}

/**
 * Flags come first, then the environment, then the profile, then the defaults. A profile that a flag names counts as a flag. The
 * key and the project of a profile are for its own gateway alone, so that no other gateway gets them. Pure. Errors: a profile that
 * does not exist; a profile that is named for another gateway than its own.
 */
export function chooseAccess(options: AccessOptions, env: Io['env'], profiles: Profiles): Access {
  const named = options.profile ?? (env.ROUSE_PROFILE || undefined)
  const profile = profileOf(named ?? profiles.current, profiles)
  const byFlag = options.profile !== undefined
  const url = gatewayUrl(options.url ?? (byFlag ? profile?.url : undefined), env, profile?.url)
  const hasOwnKey = hasKey(options, env, byFlag)
  const isItsGateway = profile?.url === url
  if (profile && !hasOwnKey && named !== undefined && !isItsGateway) {
    throw new UsageError(`Profile ${profile.name} is for ${profile.url}, so its key is not sent to ${url}.`)
  }
  const used = profile && !hasOwnKey && isItsGateway ? profile : undefined
  const inherited = byFlag ? (used?.project ?? env.ROUSE_PROJECT) : env.ROUSE_PROJECT || used?.project
  return { url, project: options.project ?? (inherited || undefined), profile: used }
}

/** True when a key was given that comes before the profile's. */
function hasKey({ key, keyFile }: AccessOptions, env: Io['env'], byFlag: boolean): boolean {
  if (key !== undefined || keyFile !== undefined) return true
  return !byFlag && Boolean(env.ROUSE_KEY || env.ROUSE_KEY_FILE)
}

function profileOf(name: string | undefined, { byName }: Profiles): (Profile & { name: string }) | undefined {
  if (name === undefined) return undefined
  const profile = byName.get(name)
  if (profile) return { ...profile, name }
  const known = [...byName.keys()].join(', ')
  const remedy = known === '' ? 'Make it: rouse login --profile <name>' : `There are: ${known}.`
  throw new UsageError(`There is no profile "${name}". ${remedy}`)
}
