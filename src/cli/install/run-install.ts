import { UsageError } from '../../client/failure.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import type { Printer } from '../../client/printer.ts'
import { readProfiles } from '../../client/profile-file.ts'
import { sameValue, type Value } from '../../config-files/document.ts'
import { profilesOf, type Records, readRecords, type Scope } from '../../config-files/record.ts'
import { keyVariable } from '../../harnesses/entries.ts'
import type { BridgeWay, EntryChoices, Harness, HarnessFile } from '../../harnesses/harness.ts'
import { harnessOf } from '../../harnesses/harnesses.ts'
import { chooseProfile, makeProfile, noProfile, profileToMake, requireAgent } from './choose-profile.ts'
import { applyInstall, planInstall } from './install-files.ts'
import { isTemporary, launchOf } from './launch.ts'
import { diffText, resultText } from './show.ts'

export interface InstallOptions {
  readonly dryRun?: boolean
  readonly agent?: string
  readonly profile?: string
  readonly scope: Scope
  readonly http?: boolean
  readonly approveTools?: boolean
  readonly approvals?: boolean
  readonly bridge?: boolean
  readonly bridgeWay?: BridgeWay
}

/** Writes the configuration of one harness, or prints what would be written. Errors: `UsageError`; then nothing was changed. */
export async function runInstall(
  io: Io,
  harness: Harness,
  options: InstallOptions,
  { gateway, print }: { gateway: GatewayClient; print: Printer },
): Promise<void> {
  requirePossible(harness, options)
  const profile = chooseProfile(options, gateway, io) ?? (options.agent && profileToMake(options.agent, gateway, io))
  if (!profile) throw noProfile()
  const launch = launchOf(options.scope)
  const named = options.scope === 'user' || options.profile !== undefined || options.agent !== undefined
  const wanted = {
    launch: [launch.command, ...launch.args],
    profile: named ? ['--profile', profile.name] : [],
    url: options.http ? `${profile.url}/mcp` : undefined,
    place: { env: io.env, platform: process.platform, cwd: process.cwd() },
  }
  const files = await chosenFiles(io, harness, options, wanted)
  const work = planInstall(io, files)
  if (options.dryRun) {
    if (profile.isNew) await requireAgent(gateway, profile.identity)
    if (profile.isNew) print.note(`It would make a key for ${profile.identity}, and the profile ${profile.name}.`)
    io.stdout(diffText(work))
    if (diffText(work) === '') print.note('Nothing would change.')
    return
  }
  if (profile.isNew) await makeProfile(profile, gateway, io)
  const results = applyInstall(io, { harness: harness.id, scope: options.scope }, work)
  const isChanged = results.some(({ action }) => action === 'written')
  const steps = isChanged ? nextSteps(harness, options, isTemporary(launch)) : ['Nothing had to be changed.']
  const notes = [...sharedAgent(io, harness.id, profile.identity), ...steps]
  const shown = { harness: harness.id, scope: options.scope, profile: profile.name, files: results, next: notes }
  print.result(shown, () => {
    const who = `It speaks for ${profile.identity} (profile ${profile.name}).`
    return `${resultText(io, harness, results)}${[who, ...notes].map((note) => `${note}\n`).join('')}`
  })
}

function requirePossible(
  { id, title, install: { scopes, http, approvals, bridgeWays } }: Harness,
  options: InstallOptions,
): void {
  if (!scopes.includes(options.scope)) throw new UsageError(`${title} has no servers of a project: --scope user.`)
  if (options.http && !http) throw new UsageError(`${title} cannot read a key from its environment: without --http.`)
  if (options.approvals && approvals !== 'hook') {
    const byBridge = `${title} takes answers through the bridge: rouse bridge add <handle> ${id} --approvals`
    throw new UsageError(approvals ? byBridge : `${title} takes no answers from elsewhere: without --approvals.`)
  }
  const ways = bridgeWays?.(options.scope) ?? []
  if (options.bridge && ways.length === 0)
    throw new UsageError(`${title} needs nothing for rouse bridge in its configuration: without --bridge.`)
  if (options.bridgeWay && !ways.includes(options.bridgeWay))
    throw new UsageError(`--bridge-way: ${title} has ${ways.join(', ') || 'none'} with --scope ${options.scope}.`)
}

/** The files with the permission to call the tools, the approvals and the way of the bridge: as an option says, else as an earlier installation did it. */
async function chosenFiles(
  io: Io,
  harness: Harness,
  { scope, approveTools, approvals, bridge, bridgeWay }: InstallOptions,
  wanted: Omit<EntryChoices, 'approve' | 'approvals' | 'bridge'>,
): Promise<readonly HarnessFile[]> {
  const ways = harness.install.bridgeWays?.(scope) ?? []
  const plain = { ...wanted, approve: false, approvals: false }
  const records = readRecords(io.env)
  const earlier = earlierWay(ways, (way) => harness.install.files(scope, { ...plain, bridge: way }), records)
  const way = bridge === false ? undefined : (bridgeWay ?? earlier ?? (bridge ? ways[0] : undefined))
  const held = earlierWay([true], (on) => harness.install.files(scope, { ...plain, approvals: on === true }), records)
  const chosen = { ...wanted, approvals: approvals ?? held ?? false, bridge: way }
  const files = (approve: boolean) => harness.install.files(scope, { ...chosen, approve })
  if (harness.install.approval === undefined) return files(false)
  const approve = approveTools ?? wasApproved(io, files(true), files(false))
  return files(approve)
}

/** True when an earlier installation wrote something that is written only with the permission, whatever else has changed since. */
function wasApproved(io: Io, withIt: readonly HarnessFile[], withoutIt: readonly HarnessFile[]): boolean {
  const records = readRecords(io.env)
  return withIt.some(({ path, pieces }, index) => {
    const written = records.get(path)?.written ?? []
    const plain = withoutIt[index]?.pieces ?? []
    return pieces.some((piece) => {
      const other = plain.find((one) => sameValue(one.path, piece.path) && one.kind === piece.kind)
      const granted = other ? addedTo(other.value, piece.value) : piece.value
      return written.some((one) => sameValue(one.path, piece.path) && includesValue(one.value, granted))
    })
  })
}

/** Returns the members of an object that another one has not. */
function addedTo(plain: Value, value: Value): Value {
  if (!isTable(plain) || !isTable(value)) return null
  return Object.fromEntries(Object.entries(value).filter(([name]) => !(name in plain)))
}

/** True when a value is another one, or an object with all that another one has. An empty one is in nothing. */
function includesValue(value: Value, part: Value): boolean {
  if (!isTable(value) || !isTable(part)) return part !== null && sameValue(value, part)
  const names = Object.keys(part)
  return names.length > 0 && names.every((name) => sameValue(value[name], part[name]))
}

function isTable(value: Value): value is { readonly [name: string]: Value } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function nextSteps(
  { title, install: { next, approval, bridgeNext = [] } }: Harness,
  options: InstallOptions,
  isInCache: boolean,
): string[] {
  return [
    ...next,
    ...(options.bridge ? bridgeNext : []),
    ...(approval && !options.approveTools
      ? [`${title} asks before it calls a tool: --approve-tools ${approval}.`]
      : []),
    ...(options.http ? [`${title} needs the key in its environment: ${keyVariable}.`] : []),
    ...(isInCache ? ['npx removes this program some day: install it, and run this again.'] : []),
    'rouse doctor says whether all of it works.',
  ]
}

/** Returns a warning if other harnesses use the same agent: only the one that started last speaks for it. Source: D12. */
function sharedAgent(io: Io, own: string, identity: string): string[] {
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

/**
 * The way of an earlier installation: the one that has written something that no other has, whatever else has changed since.
 * `filesOf(undefined)`: without any. Pure.
 */
function earlierWay<Way>(
  ways: readonly Way[],
  filesOf: (way: Way | undefined) => readonly HarnessFile[],
  records: Records,
): Way | undefined {
  const without = countsOf(filesOf(undefined))
  return ways.find((way) =>
    [...countsOf(filesOf(way))].some(([place, count]) => {
      const [path] = place.split('\n') as [string]
      const written = (records.get(path)?.written ?? []).filter((piece) => keyOf(path, piece) === place).length
      const usual = without.get(place) ?? 0
      return count > usual && written > usual
    }),
  )
}

/** How many pieces there are at each place of each file. */
function countsOf(files: readonly HarnessFile[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { path, pieces } of files) {
    for (const piece of pieces) counts.set(keyOf(path, piece), (counts.get(keyOf(path, piece)) ?? 0) + 1)
  }
  return counts
}

function keyOf(path: string, piece: { readonly kind: string; readonly path: readonly string[] }): string {
  return [path, piece.kind, ...piece.path].join('\n')
}
