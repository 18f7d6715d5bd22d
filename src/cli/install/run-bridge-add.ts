import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { AdapterId, Adapters } from '../../bridge/adapter.ts'
import { agentKey, type BridgedAgent } from '../../bridge/config/bridge-config.ts'
import { configPath, requireOwnPlace } from '../../bridge/config/config-file.ts'
import { checkConfig, openConfig } from '../../bridge/config/open-config.ts'
import { allowedDirectory } from '../../bridge/config/read-config.ts'
import { askStatus } from '../../bridge/local/ask-bridge.ts'
import type { BridgeStatus } from '../../bridge/run/status.ts'
import { isWithin } from '../../bridge/target/choose-session.ts'
import { UsageError } from '../../client/failure.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import type { Printer } from '../../client/printer.ts'
import { type Profiles, readProfiles } from '../../client/profile-file.ts'
import { plain } from '../../client/terminal-text.ts'
import { replaceFile } from '../../config-files/config-file.ts'
import type { Piece } from '../../config-files/document.ts'
import { profilesOf, readRecords } from '../../config-files/record.ts'
import { harnessOf } from '../../harnesses/harnesses.ts'
import { shellCommand } from '../../lib/shell-command.ts'
import { servicePaths } from '../service/service-record.ts'
import { type AgentProfile, findAgentProfile, makeAgentProfile } from './bridge-agent.ts'
import type { ChosenProfile } from './choose-profile.ts'
import { asUsageError, type FileWork, planInstall } from './install-files.ts'
import { diffText, resultText } from './show.ts'

export interface BridgeAddOptions {
  readonly config?: string | undefined
  readonly directory?: readonly string[]
  readonly profile?: string
  readonly approvals?: true
  readonly dryRun?: boolean
}

/** The agent that is added, and where its wakes may go. */
interface Added {
  readonly profile: ChosenProfile
  readonly harnesses: readonly AdapterId[]
  readonly directories: readonly string[]
  readonly approvals?: true | undefined
}

/** Adds an agent to the configuration of the bridge, or prints what would be written. Errors: `UsageError`; then the file is as it was. */
export async function runBridgeAdd(
  io: Io,
  { handle, harnesses }: { readonly handle: string; readonly harnesses: readonly AdapterId[] },
  options: BridgeAddOptions,
  { gateway, print, adapters }: { gateway: GatewayClient; print: Printer; adapters: Adapters },
): Promise<void> {
  const directories = directoriesOf(options.directory ?? ['.'], io)
  const path = configPath(options.config, io.env)
  const before = await agentsIn(io, path, adapters)
  const source = await findAgentProfile(io, handle, options.profile, gateway)
  const { profile } = source
  const index = before.findIndex((agent) => agentKey(agent) === agentKey(source))
  const entry = before[index]
  const reached = entry || harnesses.length > 0 ? harnesses : installedFor(profile.name, io, adapters)
  if (!entry && reached.length === 0) throw noHarness(Object.keys(adapters))
  const added = { profile, harnesses: reached, directories, approvals: options.approvals }
  const pieces = entry ? missingPieces(entry, index, added) : [newEntry(added)]
  const holds = `agents[${entry ? index : before.length}]: ${profile.identity}`
  const [work] = planInstall(io, [{ path, format: 'json', holds, pieces }]) as [FileWork]
  requireOwnPlace(dirname(path))
  await checkConfig(io, path, work.plan.text, adapters, withProfile(readProfiles(io), profile))
  if (options.dryRun) {
    if (source.key !== 'profile') print.note(`It would ${acts(source)}.`)
    io.stdout(diffText([work]))
    if (pieces.length === 0) print.note('Nothing would change.')
    return
  }
  await makeAgentProfile(io, source, gateway)
  if (pieces.length > 0) write(work)
  const action = pieces.length > 0 ? 'written' : 'unchanged'
  const result = { path, holds, action } as const
  const next = [
    ...(pieces.length > 0 ? [] : ['Nothing had to be changed.']),
    ...(await restartNotes(io, added, path, options.config)),
    ...reached.flatMap((harness) => installNotes(harness, added, io)),
  ]
  const shown = { agent: profile.identity, profile: profile.name, key: source.key, files: [result], next }
  print.result(shown, () => {
    const lines = [profileText(source), ...next].map((line) => `${plain(line)}\n`)
    return `${resultText(io, { title: 'The bridge' }, [result])}${lines.join('')}`
  })
}

function directoriesOf(written: readonly string[], { env }: Io): string[] {
  const found = written.map((one) => {
    const directory = allowedDirectory(resolve(one), env)
    if ('path' in directory) return directory.path
    throw new UsageError(`--directory: ${directory.problem}`)
  })
  return [...new Set(found)]
}

/** The agents of the configuration; none where there is no file yet. Errors: of the configuration. */
async function agentsIn(io: Io, path: string, adapters: Adapters): Promise<readonly BridgedAgent[]> {
  if (!existsSync(path)) return []
  return (await openConfig(io, path, adapters)).config.agents
}

/** The harnesses in which `rouse install` has named the profile. */
function installedFor(profile: string, { env }: Io, adapters: Adapters): AdapterId[] {
  const named = [...readRecords(env)].filter((record) => profilesOf([record]).includes(profile))
  return Object.keys(adapters).filter((id) => named.some(([, { harness }]) => harness === id))
}

function noHarness(known: readonly AdapterId[]): UsageError {
  return new UsageError(`[harness...]: Name the harness whose conversations are woken: ${known.join(', ')}.`)
}

function newEntry({ profile, harnesses, directories, approvals }: Added): Piece {
  const value = {
    profile: profile.name,
    harnesses: [...new Set(harnesses)],
    directories,
    ...(approvals ? { approvals } : {}),
  }
  return { kind: 'element', path: ['agents'], value }
}

/** The words that the entry of an agent does not have yet. A directory below one of its own is reached already. */
function missingPieces(entry: BridgedAgent, index: number, { harnesses, directories, approvals }: Added): Piece[] {
  const property = { kind: 'property', path: ['agents', String(index), 'approvals'], value: true } as const
  const element = (field: string) => (value: string) =>
    ({ kind: 'element', path: ['agents', String(index), field], value }) as const
  return [
    ...harnesses.filter((one) => !entry.harnesses.includes(one)).map(element('harnesses')),
    ...directories.filter((one) => !isWithin(one, entry.directories)).map(element('directories')),
    ...(approvals && !entry.approvals ? [property] : []),
  ]
}

/** The profiles as they will be: with the one that is made for the agent. */
function withProfile({ current, byName }: Profiles, { name, ...profile }: ChosenProfile): Profiles {
  return { current, byName: new Map([[name, { ...profile, key: '' }], ...byName]) }
}

function write({ file, plan }: FileWork): void {
  try {
    replaceFile(file, plan.text)
  } catch (error) {
    throw asUsageError(error, file.path)
  }
}

function acts({ profile: { name, identity }, key }: AgentProfile): string {
  if (key === 'caller') return `keep the key of ${identity} in the profile ${name}`
  const made = `make a key for ${identity}, and the profile ${name}`
  return key === 'new-agent' ? `register ${identity}, ${made}` : made
}

function profileText({ profile: { name }, key }: AgentProfile): string {
  return {
    profile: `Its profile is ${name}.`,
    caller: `Its key is in the new profile ${name}.`,
    'new-key': `A key for it is in the new profile ${name}.`,
    'new-agent': `It is registered, and a key for it is in the new profile ${name}.`,
  }[key]
}

/** A bridge reads its configuration when it starts: says whether the one that runs has the agent, and how it gets it. */
async function restartNotes(io: Io, added: Added, path: string, option: string | undefined): Promise<string[]> {
  const start = shellCommand(['rouse', 'bridge', ...(option === undefined ? [] : ['--config', path])], process.platform)
  const running = (await askStatus(io.env)) as BridgeStatus | undefined
  if (running === undefined) return [`No bridge runs. Start it: ${start}`]
  const { profile, harnesses, directories, approvals } = added
  const isKnown = running.agents.some(
    (one) =>
      one.profile === profile.name &&
      harnesses.every((harness) => one.harnesses.includes(harness)) &&
      directories.every((directory) => isWithin(directory, one.directories)) &&
      (!approvals || one.approvals === true),
  )
  if (isKnown) return ['The bridge that runs has it already.']
  const again = servicePaths(io.env).length > 0 ? 'rouse install --bridge' : `Ctrl-C where it runs, then ${start}`
  return [
    `The bridge that runs (process ${running.pid}) does not have it: it reads its configuration when it starts. Start it again: ${again}`,
  ]
}

/** A harness that does not have the tools and the hooks for the agent yet. */
function installNotes(id: AdapterId, { profile: { name, identity }, approvals }: Added, io: Io): string[] {
  const harness = harnessOf(id)
  if (approvals && harness?.install.approvals === 'hook')
    return [`${harness.title} takes answers by its hooks: rouse install ${id} --approvals --profile ${name}`]
  const records = [...readRecords(io.env)].filter(([, record]) => record.harness === id)
  if (!harness || profilesOf(records).includes(name)) return []
  const way = harness.install.bridgeWays?.('user').length ? ' --bridge' : ''
  return [`${harness.title} does not have the mail of ${identity} yet: rouse install ${id}${way} --profile ${name}`]
}
