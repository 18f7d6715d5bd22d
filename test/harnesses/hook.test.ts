import { expect, test } from 'vitest'
import { harnessOf } from '../../src/harnesses/harnesses.ts'
import { actOf } from '../../src/harnesses/hooks.ts'

// S1-8, S1-15
test.each([
  ['claude', 'SessionStart', {}, { state: 'idle', tellsMail: true }],
  ['claude', 'UserPromptSubmit', {}, { state: 'active', tellsMail: true }],
  ['claude', 'PermissionRequest', {}, { state: 'waitingOnApproval' }],
  ['claude', 'PostToolUse', {}, { state: 'active' }],
  ['claude', 'Notification', { notification_type: 'permission_prompt' }, { state: 'waitingOnApproval' }],
  ['claude', 'Notification', { notification_type: 'idle_prompt' }, { state: 'idle' }],
  ['claude', 'Notification', { notification_type: 'other' }, {}],
  ['claude', 'Stop', {}, { state: 'idle' }],
  ['claude', 'SessionEnd', { reason: 'prompt_input_exit' }, { ends: true, isClosed: true }],
  ['claude', 'SessionEnd', { reason: 'logout' }, { ends: true, isClosed: true }],
  ['claude', 'SessionEnd', { reason: 'other' }, { ends: true }],
  ['claude', 'StopFailure', { error: 'rate_limit' }, { state: 'idle', failure: 'rate_limit' }],
  ['claude', 'SessionEnd', { reason: 'clear' }, { state: 'idle' }],
  ['codex', 'UserPromptSubmit', {}, { state: 'active', tellsMail: true }],
  ['codex', 'Interrupt', {}, { state: 'idle' }],
  ['codex', 'SessionEnd', { reason: 'other' }, { ends: true }],
  ['qwen', 'UserPromptSubmit', {}, { state: 'active', tellsMail: true }],
  ['gemini', 'BeforeAgent', {}, { state: 'active', tellsMail: true }],
  ['gemini', 'AfterAgent', {}, { state: 'idle' }],
  ['gemini', 'Notification', { notification_type: 'ToolPermission' }, { state: 'waitingOnApproval' }],
  ['cursor', 'beforeSubmitPrompt', {}, { state: 'active' }],
  ['cursor', 'sessionStart', {}, { state: 'idle', tellsMail: true }],
  ['copilot', 'userPromptSubmitted', {}, { state: 'active' }],
  ['copilot', 'session-start', {}, { state: 'idle', tellsMail: true }],
  ['claude', 'PreCompact', {}, {}],
  ['claude', 'constructor', {}, {}],
])('%s %s %j', (harness, event, input, act) => {
  expect(actOf(harnessOf(harness)!.hooks!, event, input)).toEqual(act)
})

test.each([
  ['claude', { hookSpecificOutput: { hookEventName: 'E', additionalContext: 'text' } }],
  ['codex', { hookSpecificOutput: { hookEventName: 'E', additionalContext: 'text' } }],
  ['qwen', { hookSpecificOutput: { hookEventName: 'E', additionalContext: 'text' } }],
  ['gemini', { hookSpecificOutput: { hookEventName: 'E', additionalContext: 'text' } }],
  ['cursor', { additional_context: 'text' }],
  ['copilot', { additionalContext: 'text' }],
])('%s takes text for its model in its own form', (harness, output) => {
  expect(harnessOf(harness)!.hooks!.contextOutput('E', 'text')).toEqual(output)
})

test('a name that is no key of a harness names none', () => {
  expect(['no-harness', '__proto__', 'constructor', ''].map(harnessOf)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})
