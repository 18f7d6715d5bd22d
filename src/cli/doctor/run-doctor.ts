import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { operatorIdentity, readProfiles } from '../../client/profile-file.ts'
import { paint, plain } from '../../client/terminal-text.ts'
import { profilesOf, readRecords } from '../../config-files/record.ts'
import { broken, type Check, ok, unknown } from '../../harnesses/check.ts'
import type { Harness } from '../../harnesses/harness.ts'
import { harnesses as all } from '../../harnesses/harnesses.ts'
import type { Place } from '../../harnesses/places.ts'
import { programPath } from '../../harnesses/program-path.ts'
import { type Connection, readConnections } from '../mcp/connections.ts'
import { checkBridge } from './check-bridge.ts'
import { checkHarness, type InstalledFiles } from './harness-checks.ts'
import { checkProfile } from './profile-checks.ts'

const name = 'last connection'

/** One harness and what was found. */
interface Diagnosis {
  readonly harness: string
  readonly title: string
  readonly found: boolean
  readonly installed: boolean
  readonly checks: readonly Check[]
  readonly lastConnections: readonly LastConnection[]
}

interface Report {
  readonly profiles: readonly {
    readonly profile: string
    readonly identity?: string | undefined
    readonly checks: readonly Check[]
  }[]
  readonly harnesses: readonly Diagnosis[]
  /** The bridge of this user; empty where there is none. */
  readonly bridge: readonly Check[]
  /** True when nothing is broken. */
  readonly ok: boolean
}

/** Looks at every harness, or at the named one, and at the profiles that they use. Changes nothing. */
export async function diagnose(io: Io, only: Harness | undefined): Promise<Report> {
  const place = { env: io.env, platform: process.platform, cwd: process.cwd() }
  // A project is looked at from within.
  const isHere = (path: string) => !relative(place.cwd, path).startsWith('..')
  const records = [...readRecords(io.env)].filter(([path, { scope }]) => scope === 'user' || isHere(path))
  const chosen = only ? [only] : all
  const harnesses = await Promise.all(
    chosen.map((harness) =>
      diagnoseHarness(
        io,
        harness,
        records.filter(([, { harness: id }]) => id === harness.id),
        place,
      ),
    ),
  )
  const used = chosen.flatMap(({ id }) => profilesOf(records.filter(([, { harness }]) => harness === id)))
  const { current, byName } = readProfiles(io)
  const names = [...new Set(used.length > 0 || current === undefined ? used : [current])]
  const profiles = await Promise.all(
    names.map(async (profile) => {
      const known = byName.get(profile)
      const lost = () => [broken('profile', `there is none called ${profile}`, `rouse login --profile ${profile}`)]
      return { profile, identity: known?.identity, checks: known ? await checkProfile(io, profile, known) : lost() }
    }),
  )
  const bridge = only === undefined ? await checkBridge(io) : []
  const checks = [...[...harnesses, ...profiles].flatMap((one) => one.checks), ...bridge]
  if (only && !harnesses[0]!.installed) {
    throw new UsageError(`rouse install has written nothing for ${only.title}. See: rouse install ${only.id} --dry-run`)
  }
  return { profiles, harnesses, bridge, ok: checks.every(({ state }) => state !== 'broken') }
}

async function diagnoseHarness(io: Io, harness: Harness, installed: InstalledFiles, place: Place): Promise<Diagnosis> {
  const isInstalled = installed.length > 0
  const found = programPath(harness.binary, place) !== undefined || existsSync(harness.home(place))
  const named = profilesOf(installed)
  const connections = lastConnections(io.env, harness, named.length > 0 ? named : [readProfiles(io).current])
  const looked = isInstalled ? await checkHarness(io, harness, installed, place) : []
  const startsServer = looked.some(({ name }) => name === 'rouse mcp')
  const checks = [...looked, ...(startsServer ? connectionChecks(connections) : [])]
  return {
    harness: harness.id,
    title: harness.title,
    found,
    installed: isInstalled,
    checks,
    lastConnections: isInstalled ? connections : [],
  }
}

const marks = { ok: ['green', 'ok'], broken: ['red', 'BROKEN'], unknown: ['dim', '-'] } as const

/** The report for people: what is broken has the command that mends it. */
export function reportText(io: Io, { profiles, harnesses, bridge, ok }: Report): string {
  const part = (title: string, checks: readonly Check[]) =>
    `${paint(io, 'bold', plain(title))}\n${checks.map((check) => checkText(io, check)).join('')}`
  const installed = harnesses.filter((one) => one.installed)
  const isOfOperator = profiles.length > 0 && profiles.every(({ identity }) => identity === operatorIdentity)
  const others = harnesses.filter((one) => one.found && !one.installed).map((one) => one.harness)
  return [
    ...profiles.map(({ profile, checks }) => part(`Profile ${profile}`, checks)),
    ...installed.map(({ title, checks }) => part(title, checks)),
    ...(bridge.length > 0 ? [part('Bridge', bridge)] : []),
    ...(others.length > 0
      ? [`Here, and without Rouse: ${others.join(', ')}. rouse install <name> sets one up.\n`]
      : []),
    ...(installed.length === 0 && !isOfOperator
      ? [`Rouse is installed in no harness. ${profiles.length === 0 ? withoutProfile : 'See: rouse install'}\n`]
      : ok
        ? ['Nothing is broken.\n']
        : []),
  ].join('\n')
}

const withoutProfile =
  'Begin with a profile: rouse login --profile <name> --key-file <file>. Then: rouse install <harness>. To be woken: rouse bridge init'

function checkText(io: Io, { name, state, detail, mend }: Check): string {
  const [style, mark] = marks[state]
  const line = `  ${paint(io, style, mark.padEnd(6))}  ${`${name}:`.padEnd(20)} ${plain(detail)}\n`
  return mend === undefined ? line : `${line}          ${`mend:`.padEnd(20)} ${plain(mend)}\n`
}

/** A harness's last connection to `rouse mcp` with a profile. */
interface LastConnection extends Connection {
  readonly profile: string
}

/** The last connection of a harness with each of these profiles, as `rouse mcp` has noted it. */
function lastConnections(
  env: Io['env'],
  { surface }: Harness,
  profiles: readonly (string | undefined)[],
): LastConnection[] {
  return profiles.flatMap((profile) => {
    const connection = profile === undefined ? undefined : readConnections(env, profile).get(surface)
    return profile === undefined || connection === undefined ? [] : [{ ...connection, profile }]
  })
}

/** Checks the last connections. None is no fault: the harness has not run since. */
function connectionChecks(connections: readonly LastConnection[]): Check[] {
  if (connections.length === 0)
    return [unknown(name, 'none yet: the harness has not run since rouse mcp was installed')]
  return connections.map(({ client, era, protocolVersion, channel, listens, sessionId, profile, at }) => {
    const listening = listens === undefined ? [] : [`listens: ${listens.join(', ') || 'nothing'}`]
    const session = sessionId === undefined ? 'no session' : sessionId
    const parts = [`${client} at ${at}`, `era ${era} (MCP ${protocolVersion})`, `channel: ${channel}`, ...listening]
    return ok(name, [...parts, session, `profile ${profile}`].join('; '))
  })
}
