import type { Decision, UserRequest } from '../../bridge/adapter.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { conversationOf } from '../conversation.ts'
import type { HookApprovals } from '../hooks.ts'

const questionTool = 'AskUserQuestion'
/** The plan that it shows is not in its input. */
const planTool = 'ExitPlanMode'
/** For a model whose user has said nothing more. */
const refusal = 'The user has refused this.'

/** The approvals and questions of Claude Code. Its dialog stands beside the hook, and the first answer counts. Source: 2.1.332, tried. */
export const claudeApprovals: HookApprovals = {
  asks: 'permissionrequest',
  requestIn: claudeRequest,
  output: (request, decision) => {
    const given = claudeDecision(request, decision)
    return given && { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: given } }
  },
  settles: {
    posttooluse: 'one',
    posttoolusefailure: 'one',
    stop: 'all',
    stopfailure: 'all',
    userpromptsubmit: 'all',
    sessionend: 'all',
  },
}

function claudeRequest(said: JsonObject): UserRequest | undefined {
  const { tool_name: tool, tool_input: given, permission_mode: mode } = said
  const { sessionId: conversationId, cwd } = conversationOf(said).harness ?? {}
  if (conversationId === undefined || typeof tool !== 'string' || !isJsonObject(given) || tool === planTool) {
    return undefined
  }
  const of = { conversationId, tool, cwd, mode: typeof mode === 'string' ? mode : undefined }
  // After the answer its input has that, too.
  if (tool === questionTool) return { ...of, kind: 'question', input: { questions: given.questions } }
  const reason = typeof given.description === 'string' ? given.description : undefined
  return { ...of, kind: 'permission', input: given, reason }
}

function claudeDecision({ kind, input }: UserRequest, decision: Decision): JsonObject | undefined {
  if (decision.answer === 'deny') return { behavior: 'deny', message: decision.message ?? refusal }
  if (decision.answer === 'once') return kind === 'permission' ? { behavior: 'allow' } : undefined
  if (kind !== 'question') return undefined
  return { behavior: 'allow', updatedInput: { questions: input.questions, answers: { ...decision.answers } } }
}
