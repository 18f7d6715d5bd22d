import type { Io } from '../../client/io.ts'
import { broken, type Check, ok } from '../../harnesses/check.ts'
import type { Harness } from '../../harnesses/harness.ts'
import { talk } from '../../harnesses/talk.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'

const name = 'rouse mcp'
/** What Codex offers. Every server of this era knows it. */
const protocolVersion = '2025-06-18'
const answerMaxMs = 10_000

/** How a harness starts our server, as its file says now. */
interface Launch {
  readonly path: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** The launch that an entry says; undefined for one that has an address instead. Pure. */
export function launchIn(entry: unknown): Launch | undefined {
  if (!isJsonObject(entry)) return undefined
  const [path, ...words] = Array.isArray(entry.command) ? entry.command : [entry.command]
  const args = Array.isArray(entry.args) ? entry.args : words
  const env = isJsonObject(entry.env) ? entry.env : {}
  if (typeof path !== 'string') return undefined
  return { path, args: args.map(String), env: env as Record<string, string> }
}

/** Starts the server as the harness does, and greets it. It begins no session: that comes with the first call of a tool. */
export async function checkMcp(io: Io, harness: Harness, launch: Launch, mend: string): Promise<Check> {
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
