import { randomBytes } from 'node:crypto'
import { hashSecret } from '../security/secret.ts'
import { int, json, type NounOf, nullable, text, word } from '../storage/columns.ts'

/** The levels of log messages, the least severe first. Source: MCP 2025-11-25, server/utilities/logging. */
const logLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const
export type LogLevel = (typeof logLevels)[number]

export const mcpSessionFields = {
  /** The SHA-256 of its `Mcp-Session-Id`. */
  id: text,
  projectId: text,
  /** The agent's id, or `operator`. */
  callerId: text,
  keyId: text,
  /** As negotiated: `2025-11-25`. */
  protocolVersion: text,
  /** The params of its `initialize` request. */
  initialize: json<InitializeParams>(),
  /** The level that `logging/setLevel` set; null: the client has not set it. */
  logLevel: nullable(word<LogLevel>()),
  /** The URIs of `resources/subscribe`. */
  resources: json<readonly string[]>(),
  /** The stream that its notifications are written to; null: none was opened. */
  streamId: nullable(text),
  lastUsedAt: int,
}
/** A session of an MCP client over HTTP. Only the client has its `Mcp-Session-Id`; the store has the hash. */
export type McpSession = NounOf<typeof mcpSessionFields>

/** The parameters with which a client begins a session. */
export interface InitializeParams {
  readonly protocolVersion: string
  readonly capabilities: {
    readonly experimental?: Readonly<Record<string, unknown>>
    readonly extensions?: Readonly<Record<string, unknown>>
    readonly [name: string]: unknown
  }
  readonly clientInfo: { readonly name: string; readonly version: string; readonly [name: string]: unknown }
}

/** Returns an `Mcp-Session-Id`: 256 random bits in visible ASCII. */
export function newMcpSessionId(): string {
  return randomBytes(32).toString('base64url')
}

/** Returns what the store and the log call the session of an `Mcp-Session-Id`. */
export function nameOfSession(mcpSessionId: string): string {
  return hashSecret(mcpSessionId)
}

/** True when a message of a level is sent to a session. Without a set level every message is. */
export function isLogged(session: Pick<McpSession, 'logLevel'>, level: LogLevel): boolean {
  return session.logLevel === null || logLevels.indexOf(level) >= logLevels.indexOf(session.logLevel)
}
