import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Io } from '../../client/io.ts'
import { profilePath } from '../../client/profile-file.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'

/** The facts that `rouse mcp` knows of the connection of a harness. It has no secret. */
export interface Connection {
  /** As it calls itself: `codex-mcp-client 0.169.0` */
  readonly client: string
  /** `2025`: with sessions; `2026`: from 2026-07-28. */
  readonly era: '2025' | '2026'
  readonly protocolVersion: string
  /** `declared`, or why the channel of Claude Code is not. */
  readonly channel: string
  /** The parts that `subscriptions/listen` has acknowledged: `resourceSubscriptions (1)`. */
  readonly listens?: readonly string[] | undefined
  readonly sessionId?: string | undefined
  /** ISO 8601 */
  readonly at: string
}

const surfacesMax = 20
const bytesMax = 64 * 1024
const textMax = 200

/**
 * The file with the last connections of a profile, below the profiles: harnesses pass that directory on to the programs they start.
 * undefined without a home directory.
 */
export function connectionsPath(env: Io['env'], profile: string): string | undefined {
  const profiles = profilePath(env)
  return profiles && join(dirname(profiles), 'connections', `${profile}.json`)
}

/** The last connection of each surface. Empty where the file is not there, or not ours. */
export function readConnections(env: Io['env'], profile: string): Map<string, Connection> {
  const path = connectionsPath(env, profile)
  try {
    if (path === undefined || statSync(path).size > bytesMax) return new Map()
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    const entries = isJsonObject(value) ? Object.entries(value) : []
    return new Map(entries.filter((entry): entry is [string, JsonObject & Connection] => isConnection(entry[1])))
  } catch {
    return new Map()
  }
}

/** Notes the last connection of a surface. The newest twenty are kept. Errors: of the file system. */
export function saveConnection(env: Io['env'], profile: string, surface: string, connection: Connection): void {
  const path = connectionsPath(env, profile)
  if (path === undefined) return
  const others = [...readConnections(env, profile)].filter(([name]) => name !== surface)
  const newest = others.sort(([, one], [, other]) => (one.at < other.at ? 1 : -1)).slice(0, surfacesMax - 1)
  const bounded = { ...connection, client: connection.client.slice(0, textMax) }
  const text = `${JSON.stringify(Object.fromEntries([[surface, bounded], ...newest]), null, 2)}\n`
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600 })
    renameSync(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
}

function isConnection(value: unknown): boolean {
  if (!isJsonObject(value)) return false
  const { client, era, protocolVersion, channel, at, sessionId = '', listens = [] } = value
  const texts = [client, era, protocolVersion, channel, at, sessionId].every((one) => typeof one === 'string')
  return texts && Array.isArray(listens) && listens.every((one) => typeof one === 'string')
}
