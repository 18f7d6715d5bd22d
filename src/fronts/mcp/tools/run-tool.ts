import type { CallToolResult } from '@modelcontextprotocol/server'
import type { JsonObject } from '../../../lib/json.ts'
import { requireSafeNumbers } from '../../json-numbers.ts'
import { parse } from '../../validate.ts'
import { type AskApi, createAskApi } from '../ask-api.ts'
import type { CallApi } from '../call-api.ts'
import { failureText } from '../failure-text.ts'
import { McpTask } from '../followed/mcp-task.ts'
import { jsonSchemaOf } from '../json-schemas.ts'
import { quotedNote } from '../quoted.ts'
import { readable } from '../readable.ts'
import { shownJson } from '../shown-json.ts'
import { liberalArguments } from './liberal-arguments.ts'
import { shortSignals } from './mail-view.ts'
import type { AnyTool, ToolContext } from './tool.ts'

/** The most that one result shows of one text, and of everything: harnesses cut longer results, or refuse them. */
const room = { textBytes: 24_000, bytes: 64_000 }

/**
 * Runs one call of a tool. What goes wrong is a result too, with `isError`: a model reads what to do instead. Mail that waited comes
 * with the result, and waits again if the client has cancelled the call meanwhile. Source: S2-14.
 */
export async function runTool(
  tool: AnyTool,
  call: CallApi,
  input: unknown,
  context: ToolContext,
): Promise<CallToolResult> {
  const api = createAskApi(call, context.call, context.signal)
  try {
    requireSafeNumbers(input)
    const given = parse(tool.input, liberalArguments(jsonSchemaOf(tool.input, 'input'), input))
    const output = await tool.run(api, given as never, context)
    return output instanceof McpTask ? output.result : toolResult(tool, output, signalsOf(api))
  } catch (error) {
    return refusal(failureText(error, tool.language), signalsOf(api))
  } finally {
    if (context.signal.aborted) for (const answer of api.answers) answer.returnMail?.()
  }
}

/** The mail that came with the answers of the API. */
function signalsOf({ answers }: AskApi): JsonObject[] {
  return shortSignals(answers.flatMap(({ pendingSignals }) => pendingSignals))
}

/** Returns a result as a client gets it, with the mail that comes along. */
export function toolResult(tool: AnyTool, output: JsonObject, signals: readonly JsonObject[] = []): CallToolResult {
  const note = tool.quotes || signals.length > 0 ? { note: quotedNote } : {}
  const mail = signals.length > 0 ? { pendingSignals: signals } : {}
  // The mail comes before what others have written otherwise: it counts as delivered, so nothing else may take its room.
  const { value, isCut } = shownJson({ ...note, ...plainFields(output), ...mail, ...output }, room)
  const structuredContent = { ...value, ...(isCut ? { isCut: true } : {}) }
  const lines = [tool.say(structuredContent as never), ...signalLines(signals), readable(structuredContent)]
  return { content: [{ type: 'text', text: lines.join('\n\n') }], structuredContent }
}

/** The fields that are no lists or objects. They come first: a state, or the token of the next page, is never what is cut. */
function plainFields(output: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(output).filter(([, value]) => typeof value !== 'object' || value === null))
}

function signalLines({ length }: readonly JsonObject[]): string[] {
  if (length === 0) return []
  const mail = length === 1 ? '1 message waits for you' : `${length} messages wait for you`
  return [
    `${mail}: see pendingSignals. Deal with what you have not seen yet, then report each with mark_message (signal_id is the messageId).`,
  ]
}

function refusal(said: string, signals: readonly JsonObject[]): CallToolResult {
  const { value } = shownJson({ pendingSignals: signals }, room)
  const mail = signals.length === 0 ? [] : [...signalLines(signals), quotedNote, readable(value)]
  return { content: [{ type: 'text', text: [said, ...mail].join('\n\n') }], isError: true }
}
