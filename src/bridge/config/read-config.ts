import { realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, parse } from 'node:path'
import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import type { Profiles } from '../../client/profile-file.ts'
import { DocumentError } from '../../config-files/document.ts'
import { parseJson } from '../../config-files/json/parse.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { operatorIdentity } from '../../words/callers.ts'
import { agentTriggers } from '../../words/events.ts'
import type { AdapterId, AdapterRow } from '../adapter.ts'
import { agentKey, type BridgeConfig, type BridgedAgent, bridgeDefaults } from './bridge-config.ts'
import { checkSetting, countOf, listOf, nameIn, objectOf, Problems, wordOf } from './fields.ts'
import { recipeOf } from './read-recipe.ts'

/** The facts that a configuration is checked against. */
interface ConfigWorld {
  readonly env: Io['env']
  readonly profiles: Profiles
  /** The harnesses that this version reaches. */
  readonly known: readonly AdapterId[]
  /** The rows of those that the configuration names. */
  readonly rows: ReadonlyMap<AdapterId, AdapterRow>
}

const agentsMax = 1_000
const shownMax = 20

/** The value of a configuration: JSON, which may have comments. Errors: `UsageError`, with the place. */
export function parseConfig(text: string, path: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    const where = error instanceof DocumentError ? `:${error.line}:${error.column}` : ''
    throw new UsageError(`${path}${where}: ${(error as Error).message}`, { cause: error })
  }
}

/** The harnesses that a configuration names, of those that there are. Pure. */
export function harnessesIn(value: unknown, known: readonly AdapterId[]): AdapterId[] {
  const { agents, adapters } = isJsonObject(value) ? value : {}
  const listed = Array.isArray(agents) ? agents.flatMap((agent) => (isJsonObject(agent) ? agent.harnesses : [])) : []
  const named = [...listed.flat(), ...(isJsonObject(adapters) ? Object.keys(adapters) : [])]
  return known.filter((id) => named.includes(id))
}

/** Reads the value of a configuration. Errors: `UsageError` with everything that is wrong, each with its field and the remedy. */
export function readBridgeConfig(value: unknown, path: string, world: ConfigWorld): BridgeConfig {
  const problems = new Problems()
  const file = objectOf(value, '', ['agents', 'adapters', 'maxTurnsAMinute', 'harnessWaitMinutes'], problems) ?? {}
  const read = (item: unknown, field: string) => agentOf(item, field, world, problems)
  const agents = listOf(file.agents, 'agents', { max: agentsMax, read, what: 'agents' }, problems) ?? []
  const adapters = adaptersOf(file.adapters, world, problems)
  const bounds = { min: 1, max: 10_000, otherwise: bridgeDefaults.maxTurnsAMinute }
  const maxTurnsAMinute = countOf(file.maxTurnsAMinute, 'maxTurnsAMinute', bounds, problems)
  const waits = { min: 1, max: 10_080, otherwise: bridgeDefaults.harnessWaitMinutes }
  const harnessWaitMinutes = countOf(file.harnessWaitMinutes, 'harnessWaitMinutes', waits, problems)
  for (const [index, agent] of agents.entries()) {
    const first = agents.findIndex((one) => agentKey(one) === agentKey(agent))
    if (first === index) continue
    const same = `${agent.profile.identity} is in agents[${first}] already. One entry for an agent: put its directories together.`
    problems.add(`agents[${index}].profile`, same)
  }
  if (problems.all.length === 0) return { path, agents, adapters, maxTurnsAMinute, harnessWaitMinutes }
  const shown = problems.all.slice(0, shownMax)
  const more = problems.all.length > shownMax ? [`and ${problems.all.length - shownMax} more`] : []
  throw new UsageError(`${path} is not right:\n${[...shown, ...more].map((line) => `  ${line}`).join('\n')}`)
}

const agentFields = [
  'profile',
  'harnesses',
  'directories',
  'triggers',
  'turnsAnHour',
  'wakesFromOneAgentAnHour',
  'approvals',
  'restart',
]

const approvalsMeaning = {
  type: 'boolean',
  help: 'a person may answer from elsewhere what its harnesses ask their user',
} as const

function agentOf(
  item: unknown,
  field: string,
  { env, profiles, known }: ConfigWorld,
  problems: Problems,
): BridgedAgent | undefined {
  const given = objectOf(item, field, agentFields, problems)
  if (given === undefined) return undefined
  const profile = profileOf(given.profile, nameIn(field, 'profile'), profiles, problems)
  const harness = (one: unknown, at: string) => wordOf(one, at, known, problems)
  const harnesses = listOf(
    given.harnesses,
    nameIn(field, 'harnesses'),
    { max: 100, read: harness, what: known.join(', ') },
    problems,
  )
  const directory = (one: unknown, at: string) => {
    const found = allowedDirectory(one, env)
    return 'path' in found ? found.path : problems.add(at, found.problem)
  }
  const directories = listOf(
    given.directories,
    nameIn(field, 'directories'),
    { max: 100, read: directory, what: 'directories whose conversations may be woken' },
    problems,
  )
  const trigger = (one: unknown, at: string) => wordOf(one, at, agentTriggers, problems)
  const triggers =
    given.triggers === undefined
      ? bridgeDefaults.triggers
      : listOf(
          given.triggers,
          nameIn(field, 'triggers'),
          { max: agentTriggers.length, read: trigger, what: agentTriggers.join(', ') },
          problems,
        )
  const count = (name: 'turnsAnHour' | 'wakesFromOneAgentAnHour') =>
    countOf(given[name], nameIn(field, name), { min: 1, max: 10_000, otherwise: bridgeDefaults[name] }, problems)
  const limits = {
    turnsAnHour: count('turnsAnHour'),
    wakesFromOneAgentAnHour: count('wakesFromOneAgentAnHour'),
  }
  if (given.approvals !== undefined)
    checkSetting(given.approvals, nameIn(field, 'approvals'), approvalsMeaning, problems)
  const world = { known, directories: directories ?? [], directoryOf: (one: unknown) => allowedDirectory(one, env) }
  const restart =
    given.restart === undefined ? undefined : recipeOf(given.restart, nameIn(field, 'restart'), world, problems)
  if (!profile || !harnesses || !directories || !triggers) return undefined
  const once = <Item>(items: readonly Item[]): Item[] => [...new Set(items)]
  return {
    profile,
    harnesses: once(harnesses),
    directories: once(directories),
    triggers: once(triggers),
    ...limits,
    ...(given.approvals === true ? { approvals: true } : {}),
    ...(restart ? { restart } : {}),
  }
}

function profileOf(
  value: unknown,
  field: string,
  { byName }: Profiles,
  problems: Problems,
): BridgedAgent['profile'] | undefined {
  const profile = typeof value === 'string' ? byName.get(value) : undefined
  if (profile === undefined) {
    const known = [...byName.keys()].slice(0, shownMax).join(', ')
    const remedy = known === '' ? 'Make one: rouse login --profile <name>' : `There are: ${known}.`
    return problems.add(field, `there is no profile ${JSON.stringify(value) ?? ''}. ${remedy}`)
  }
  if (profile.identity !== operatorIdentity) return { ...profile, name: String(value) }
  return problems.add(
    field,
    `${value} has the operator's key. Log in with the key of the agent: rouse login --profile <name>`,
  )
}

function adaptersOf(value: unknown, { known, rows }: ConfigWorld, problems: Problems): BridgeConfig['adapters'] {
  if (value === undefined) return {}
  const given = objectOf(value, 'adapters', known, problems) ?? {}
  const found: Partial<Record<AdapterId, JsonObject>> = {}
  for (const [id, row] of rows) {
    const settings = given[id]
    if (settings === undefined) continue
    const field = `adapters.${id}`
    const own = objectOf(settings, field, Object.keys(row.settings), problems)
    if (!isJsonObject(own)) continue
    for (const [name, meaning] of Object.entries(row.settings)) {
      if (own[name] !== undefined) checkSetting(own[name], nameIn(field, name), meaning, problems)
    }
    found[id] = own
  }
  return found
}

/**
 * The directory that a user has written, absolute, with `~` and symbolic links resolved; a text: what is wrong with it. Conversations
 * in it, and below it, are reached.
 */
export function allowedDirectory(
  written: unknown,
  { HOME, USERPROFILE }: Io['env'],
): { readonly path: string } | { readonly problem: string } {
  if (typeof written !== 'string' || written === '') return { problem: 'must be the path of a directory.' }
  const home = HOME || USERPROFILE
  const isOfHome = written === '~' || written.startsWith('~/')
  if (isOfHome && !home) return { problem: `${written}: there is no home directory. Write the whole path.` }
  const path = isOfHome ? join(home!, written.slice(1)) : written
  if (!isAbsolute(path)) return { problem: `${written} is relative. Write the whole path, or begin with ~/.` }
  try {
    const real = realpathSync(path)
    if (!statSync(real).isDirectory()) return { problem: `${written} is a file. Name the directory of a conversation.` }
    // Every conversation of every agent on this machine.
    if (real === parse(real).root)
      return { problem: `${written} is everything. Name the directories of your projects.` }
    return { path: real }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return { problem: `${written} cannot be looked at (${code}). Make it, or take it out.` }
  }
}
