import type { CallToolResult } from '@modelcontextprotocol/server'
import { toProblem } from '../../../errors.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { problemBody } from '../../problem.ts'
import { parse } from '../../validate.ts'
import { type ApiAnswer, type CallApi, GatewayUnreachable } from '../call-api.ts'
import { problemText } from '../problem-text.ts'
import { readable } from '../readable.ts'
import { Refused } from '../refused.ts'
import { shownJson } from '../shown-text.ts'
import type { AnyTool, AskApi, ToolContext } from './tool.ts'

/**
 * Runs one call of a tool. What goes wrong is a result too, with `isError`: a model reads what to do instead. Mail in an answer
 * waits again if the client cancelled the call meanwhile.
 */
export async function runTool(
  tool: AnyTool,
  call: CallApi,
  input: unknown,
  context: ToolContext,
): Promise<CallToolResult> {
  const answers: ApiAnswer[] = []
  try {
    const given = parse(tool.input, input)
    return resultOf(tool, await tool.run(asking(call, context, answers), given as never, context))
  } catch (error) {
    return refusal(error)
  } finally {
    if (context.signal.aborted) for (const answer of answers) answer.returnMail?.()
  }
}

function asking(call: CallApi, { signal, call: mcp }: ToolContext, answers: ApiAnswer[]): AskApi {
  return async (request) => {
    const answer = await call(request, { signal, mcp })
    answers.push(answer)
    if (answer.status >= 400) throw new Refused(answer.status, answer.body)
    return answer.body
  }
}

function resultOf(tool: AnyTool, output: JsonObject): CallToolResult {
  const structuredContent = shownJson(output)
  const text = [tool.say(structuredContent as never), readable(structuredContent)].join('\n\n')
  return { content: [{ type: 'text', text }], structuredContent }
}

function refusal(error: unknown): CallToolResult {
  return { content: [{ type: 'text', text: refusalText(error) }], isError: true }
}

function refusalText(error: unknown): string {
  if (error instanceof Refused) return problemText(error.problem)
  if (error instanceof GatewayUnreachable)
    return `${error.message} Nothing was done. Your mail and tasks are kept there. Tell your user, and try again later.`
  return problemText(problemBody(toProblem(error), '') as JsonObject)
}
