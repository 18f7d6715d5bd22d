import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { isJsonObject, type JsonObject } from '../lib/json.ts'
import { requirePrivate } from '../security/private-files.ts'
import { UsageError } from './failure.ts'
import type { Io } from './io.ts'

/** A gateway, and the key for it. */
export interface Profile {
  readonly url: string
  readonly key: string
  /** Whose key it is: `@donna`. */
  readonly identity: string
  /** The project that commands act in; absent: the key's own. */
  readonly project?: string | undefined
}

/** The person of the key, if it is a person's. No harness gets it. */
export const operatorIdentity = '@operator'

/** All profiles by name, and the one that commands use when none is named. */
export interface Profiles {
  readonly current: string | undefined
  readonly byName: ReadonlyMap<string, Profile>
}

/** The largest number of profiles: one for each agent of a large team. */
const profilesMax = 1_000

/** Where the profiles are, by the XDG Base Directory Specification; undefined without a home directory. */
export function profilePath({ XDG_CONFIG_HOME: config, HOME, USERPROFILE }: Io['env']): string | undefined {
  const home = HOME || USERPROFILE
  // The specification: a relative path is ignored.
  const base = config && isAbsolute(config) ? config : home ? join(home, '.config') : undefined
  return base === undefined ? undefined : join(base, 'rouse', 'profiles.json')
}

/** Reads the profiles; none without a file. Errors: a file that other users may read, or that is damaged. */
export function readProfiles(io: Io): Profiles {
  const path = profilePath(io.env)
  const text = path === undefined ? undefined : readText(path)
  if (path === undefined || text === undefined) return { current: undefined, byName: new Map() }
  requirePrivate('secret', path, (closed, mode) => io.stderr(`${closed} was open to others (mode ${mode}): closed.\n`))
  return parsed(text, path)
}

/** Writes the profiles into a file that only this user can read; without a profile it removes the file. */
export function writeProfiles({ current, byName }: Profiles, env: Io['env']): string {
  const path = profilePath(env)
  if (path === undefined) throw new UsageError('There is no home directory for profiles: set HOME or XDG_CONFIG_HOME.')
  if (byName.size > profilesMax)
    throw new UsageError(`There are ${profilesMax} profiles: remove one with rouse logout.`)
  if (byName.size === 0) {
    rmSync(path, { force: true })
    return path
  }
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // A reader sees the old file or the new one, and a crash leaves one of them.
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    writeFileSync(draft, `${JSON.stringify({ current, profiles: Object.fromEntries(byName) }, null, 2)}\n`, {
      mode: 0o600,
    })
    chmodSync(draft, 0o600)
    renameSync(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
  return path
}

/** A name of a profile, checked. */
export function profileName(text: string): string {
  if (/^[a-z0-9][a-z0-9._-]{0,63}$/i.test(text)) return text
  throw new UsageError(`"${text}" is no name of a profile: up to 64 letters, digits, and . _ - inside.`)
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // A home that this user may not read has no profiles for it: a container's user often has root's home.
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return undefined
    throw new UsageError(`The profiles in ${path} cannot be read (${code}).`, { cause: error })
  }
}

function parsed(text: string, path: string): Profiles {
  const file = parseObject(text)
  const entries = isJsonObject(file?.profiles) ? Object.entries(file.profiles) : undefined
  if (!file || !entries?.every(([, profile]) => isProfile(profile))) {
    throw new UsageError(`${path} is damaged. Remove it, and log in again with rouse login.`)
  }
  const byName = new Map(entries as [string, Profile][])
  const { current } = file
  return { current: typeof current === 'string' && byName.has(current) ? current : undefined, byName }
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isProfile(value: unknown): value is Profile {
  if (!isJsonObject(value)) return false
  const { url, key, identity, project } = value
  const texts = [url, key, identity, project ?? ''].every((one) => typeof one === 'string')
  return texts && URL.canParse(String(url)) && key !== ''
}
