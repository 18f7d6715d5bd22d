import { openConfig } from '../../bridge/config/open-config.ts'
import type { Io } from '../../client/io.ts'
import { readConfigFile } from '../../config-files/config-file.ts'
import { DocumentError, hasPiece, valueAt, type WrittenPiece } from '../../config-files/document.ts'
import { formats } from '../../config-files/formats.ts'
import type { FileRecord } from '../../config-files/record.ts'
import { adapters } from '../../harnesses/adapters.ts'
import { broken, type Check, ok, unknown } from '../../harnesses/check.ts'
import { serverName } from '../../harnesses/entries.ts'
import type { Harness } from '../../harnesses/harness.ts'
import type { Place } from '../../harnesses/places.ts'
import { programPath } from '../../harnesses/program-path.ts'
import { talk } from '../../harnesses/talk.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { addressIn, checkHttp } from './http-check.ts'

const name = 'rouse mcp'

/** The version that Codex offers. Every server of this era knows it. */
const protocolVersion = '2025-06-18'

const answerMaxMs = 10_000

const versionMaxMs = 10_000

/** The files of a harness that rouse install has written, by their path. */
export type InstalledFiles = readonly (readonly [path: string, record: FileRecord])[]

/** Checks an installation: the program, each file, the server, the hooks. */
export async function checkHarness(
  io: Io,
  harness: Harness,
  installed: InstalledFiles,
  place: Place,
): Promise<Check[]> {
  const program = programPath(harness.binary, place)
  const checks = [await checkProgram(harness, program, place)]
  for (const [path, record] of installed) checks.push(...checkFile(harness, path, record))
  for (const [path, record] of installed) {
    const entry = entryOf(path, record)
    const launch = launchIn(entry)
    if (launch) checks.push(await checkMcp(io, harness, launch, mendOf(harness, record)))
    // The key goes to the address that was installed, and not to what the file says by now.
    const url = launch || !entry ? undefined : addressIn(record.written.find(isServer)?.value)
    if (url !== undefined) checks.push(await checkHttp(io, url))
  }
  checks.push(...(await checkApprovals(io, harness, installed)))
  if (program && harness.checks) checks.push(...(await harness.checks(program, place)))
  return checks
}

/** Says who answers what a harness asks its user; nothing for one that takes no other answer than that of its screen. */
async function checkApprovals(io: Io, { id, install }: Harness, installed: InstalledFiles): Promise<Check[]> {
  const byHook = () =>
    installed.some(([, { written }]) => written.some(({ value }) => / --approvals\b/.test(JSON.stringify(value))))
  const byBridge = async () => {
    const agents = await openConfig(io, undefined, adapters).then(
      ({ config }) => config.agents,
      () => [],
    )
    return agents.some(({ approvals, harnesses }) => approvals && harnesses.includes(id))
  }
  const ways = {
    hook: { isOn: byHook, remedy: `rouse install ${id} --approvals` },
    bridge: { isOn: byBridge, remedy: `rouse bridge add <handle> ${id} --approvals` },
  } as const
  const way = install.approvals && ways[install.approvals]
  if (!way) return []
  if (await way.isOn()) return [ok('approvals', 'a person may answer from elsewhere')]
  return [unknown('approvals', `its terminal alone answers. From elsewhere too: ${way.remedy}`)]
}

async function checkProgram({ title, binary }: Harness, program: string | undefined, { env }: Place): Promise<Check> {
  if (program === undefined) return unknown('program', `${binary} is not in PATH`)
  const command = { path: program, args: ['--version'], env, timeoutMs: versionMaxMs }
  const { lines, end } = await talk(command, '', () => false)
  const version = lines.find((line) => /\d/.test(line))?.slice(0, 80)
  if (end === 'exited' && version) return ok('program', `${version} (${program})`)
  return unknown('program', `${program} --version said nothing`, `Reinstall ${title}`)
}

/** Checks that all that was written into a file is still there. */
function checkFile(harness: Harness, path: string, record: FileRecord): Check[] {
  const mend = mendOf(harness, record)
  const document = parsed(path, record)
  if (document instanceof DocumentError) {
    return [broken('file', `${path}:${document.line}:${document.column}: ${document.message}`, `Correct ${path}`)]
  }
  const hooks = record.written.filter(isHook)
  const missing = record.written.filter((one) => !hasPiece(document, one))
  if (missing.length > 0) {
    const names = [...new Set(missing.map((one) => one.path.join('.')))].join(', ')
    return [broken('file', `${path}: ${names || 'the file'} is missing or was changed`, mend)]
  }
  const holds = [
    ...(record.written.some(isServer) ? ['MCP server'] : []),
    ...(hooks.length > 0 ? [`${hooks.length} hooks`] : []),
    ...(record.format === 'whole' ? ['for rouse bridge'] : []),
  ]
  return [ok('file', `${path}: ${holds.join(', ')}`)]
}

function mendOf({ id }: Harness, { scope }: FileRecord): string {
  return `rouse install ${id}${scope === 'project' ? ' --scope project' : ''}`
}

function parsed(path: string, { format }: FileRecord): unknown {
  try {
    return formats[format].parse(readConfigFile(path).text ?? '')
  } catch (error) {
    if (error instanceof DocumentError) return error
    return new DocumentError((error as Error).message, { line: 1, column: 1 })
  }
}

function isHook({ path }: WrittenPiece): boolean {
  return path[0] === 'hooks'
}

function isServer({ path }: WrittenPiece): boolean {
  return path.at(-1) === serverName
}

/** Our server's entry, as the file says now. */
function entryOf(path: string, record: FileRecord): unknown {
  const server = record.written.find(isServer)
  return server && valueAt(parsed(path, record), server.path)
}

/** How a harness starts our server, as its file says now. */
interface Launch {
  readonly path: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** The launch that an entry says; undefined for one that has an address instead. Pure. */
function launchIn(entry: unknown): Launch | undefined {
  if (!isJsonObject(entry)) return undefined
  const [path, ...words] = Array.isArray(entry.command) ? entry.command : [entry.command]
  const args = Array.isArray(entry.args) ? entry.args : words
  const env = isJsonObject(entry.env) ? entry.env : {}
  if (typeof path !== 'string') return undefined
  return { path, args: args.map(String), env: env as Record<string, string> }
}

/** Starts the server as the harness does, and greets it. It begins no session: that comes with the first call of a tool. */
async function checkMcp(io: Io, harness: Harness, launch: Launch, mend: string): Promise<Check> {
  const clientInfo = { name: 'rouse-doctor', version: '1' }
  const params = { protocolVersion, capabilities: {}, clientInfo }
  const greeting = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`
  const env = { ...passedOn(harness, io.env), ...launch.env }
  const { lines, complaint, end } = await talk({ ...launch, env, timeoutMs: answerMaxMs }, greeting, hasAnswer)
  const result = answerIn(lines)?.result
  if (isJsonObject(result)) {
    return ok(name, `answers (MCP ${String(result.protocolVersion)})`)
  }
  const why = {
    'not-started': 'cannot be started',
    exited: 'ended',
    timeout: 'did not answer in 10 s',
    answered: 'refused',
  }[end]
  const command = [launch.path, ...launch.args].join(' ')
  return broken(name, `${command}: ${why}${complaint === '' ? '' : `: ${complaint}`}`, mend)
}

/** The environment of the servers of a harness. */
function passedOn({ variables }: Harness, env: Io['env']): Io['env'] {
  const names = variables?.passed
  if (names === undefined) return env
  return Object.fromEntries(names.map((one) => [one, env[one]]).filter(([, value]) => value !== undefined))
}

function hasAnswer(lines: readonly string[]): boolean {
  return answerIn(lines) !== undefined
}

function answerIn(lines: readonly string[]): JsonObject | undefined {
  for (const line of lines) {
    try {
      const message: unknown = JSON.parse(line)
      if (isJsonObject(message) && message.id === 1) return message
    } catch {
      // A server may print other things, although it must not.
    }
  }
  return undefined
}
