import type { ToolAnnotations } from '@modelcontextprotocol/server'
import type { z } from 'zod'
import type { JsonObject } from '../../../lib/json.ts'
import type { AskApi } from '../ask-api.ts'
import type { McpCall } from '../call-api.ts'
import type { FindIdentity } from '../client-identity.ts'
import type { ToolLanguage } from '../failure-text.ts'
import type { McpTask } from '../followed/mcp-task.ts'
import { everyResult } from './outputs.ts'

/** The parts of a tool beside its input. */
export interface ToolContext {
  readonly call: McpCall
  /** Aborts when the client has cancelled the call, or is gone. */
  readonly signal: AbortSignal
  /** Whom the client speaks for. */
  readonly own: FindIdentity
  /** The events whose wakes the client takes over its session. Source: S1-28. */
  readonly wakes: ReadonlySet<string>
  /** True when the client follows tasks, as this request says: then a tool may answer with one. */
  readonly followsTasks?: boolean
  /** The time in ms, for differences only. */
  readonly now: () => number
  /** Reports to the client that the call continues, if the client has requested progress. */
  readonly progress: (said: { readonly progress: number; readonly total?: number; readonly message?: string }) => void
}

/** One tool of the MCP front: a thin translation into calls of the API, where access, limits and audit are. */
export interface Tool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodObject = z.ZodObject> {
  /** `send_message` */
  readonly name: string
  /** For people: `Send a message`. */
  readonly title: string
  /** For a model: what it does, when to use it, what comes next. */
  readonly description: string
  /** The same where the client follows tasks: when the answer comes by itself. Absent: it is no other. */
  readonly followed?: string
  readonly input: Input
  readonly output: Output
  /** All four hints: some harnesses refuse a call of a tool without them. */
  readonly annotations: Required<Omit<ToolAnnotations, 'title'>>
  /** True when a result shows texts of other agents. */
  readonly quotes?: boolean
  /** The tools that its refusals name; absent: those of agents. */
  readonly language?: ToolLanguage
  /** The first line of the text of a result. */
  readonly say: (output: z.output<Output>) => string
  readonly run: (ask: AskApi, input: z.output<Input>, context: ToolContext) => Promise<JsonObject | McpTask>
}

/** A tool as the server sees it. */
export interface AnyTool extends Omit<Tool, 'input' | 'output' | 'say' | 'run'> {
  readonly input: z.ZodObject
  readonly output: z.ZodObject
  readonly say: (output: never) => string
  readonly run: (ask: AskApi, input: never, context: ToolContext) => Promise<JsonObject | McpTask>
}

/** The tools that a server has in the place of those of agents, with the instructions for them. */
export interface ToolSet {
  readonly tools: readonly AnyTool[]
  readonly instructions: string
}

/** Declares a tool. Its output also has what every result can have. */
export function tool<Input extends z.ZodObject, Output extends z.ZodObject>(fields: Tool<Input, Output>): AnyTool {
  return { ...fields, output: fields.output.extend(everyResult) }
}

const closed = { destructiveHint: false, openWorldHint: false } as const

/** Reads only. */
export const reads = { ...closed, readOnlyHint: true, idempotentHint: true } as const

/** Adds something, or moves it forward; what was there before is kept. A second call does it again, or is refused. */
export const acts = { ...closed, readOnlyHint: false, idempotentHint: false } as const

/** As `acts`, and a second call with the same arguments changes nothing. */
export const repeats = { ...closed, readOnlyHint: false, idempotentHint: true } as const

/** Can take something away for good. */
export const removes = { ...acts, destructiveHint: true } as const

/** Moves what is outside the gateway: agents obey it as the words of their user, or it names another address. Clients ask a person first. */
export const reachesOut = { ...removes, openWorldHint: true } as const
