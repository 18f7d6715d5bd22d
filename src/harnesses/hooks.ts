import type { Decision, UserRequest } from '../bridge/adapter.ts'
import type { Io } from '../client/io.ts'
import type { JsonObject } from '../lib/json.ts'
import type { PresenceState } from '../words/presence.ts'

/** The effects of an event of a harness. */
export interface HookAct {
  /** The state of the harness from now on. */
  readonly state?: PresenceState
  /** The harness accepts text for the model: the waiting mail is listed. Source: S1-15. */
  readonly tellsMail?: true
  /** The conversation ends, and perhaps the process with it. */
  readonly ends?: true
  /** Its user has closed it: recovery does not restart its harness. */
  readonly isClosed?: true
  /** The turn has failed, and these are the words of the harness about it. */
  readonly failure?: string
}

/** The hooks of a harness: what `rouse hook` makes of its events. */
export interface Hooks {
  /** The effects of each event, by its name in lower case without separators. */
  readonly acts: Readonly<Record<string, HookAct | ((input: JsonObject) => HookAct)>>
  /** The event of a prompt, which the harness is about to give to the model, by its name as in `acts`. */
  readonly prompt: string
  /** The standard output that adds text to the context of the model. */
  readonly contextOutput: (event: string, text: string) => JsonObject
  /** The size of the context, in tokens; absent, or undefined: it does not say. */
  readonly contextTokens?: (input: JsonObject) => number | undefined
  /** True when it was started without a user at its terminal; absent: it does not say, and a user is there. */
  readonly isUnattended?: (env: Io['env']) => boolean
  /** The hook that takes the answer of a person; absent: there is none. */
  readonly approvals?: HookApprovals
}

/** The hook of a harness that asks its user something. Events by their names as in `acts`. */
export interface HookApprovals {
  /** The event that asks. */
  readonly asks: string
  /** The request in the input of that event, or of the event that shows that it was allowed; undefined: it has none that can be shown elsewhere. */
  readonly requestIn: (input: JsonObject) => UserRequest | undefined
  /** The standard output that gives an answer; undefined: it is none to this request. */
  readonly output: (request: UserRequest, decision: Decision) => JsonObject | undefined
  /** The events after which a request waits no more: the `one` in their input, which was allowed, or `all` of the conversation. */
  readonly settles: Readonly<Record<string, 'one' | 'all'>>
}

export const starts: HookAct = { state: 'idle', tellsMail: true }
export const prompted: HookAct = { state: 'active', tellsMail: true }
export const works: HookAct = { state: 'active' }
export const asks: HookAct = { state: 'waitingOnApproval' }
export const rests: HookAct = { state: 'idle' }
export const ends: HookAct = { ends: true }
const nothing: HookAct = {}
const failureMax = 1_000

/** A process that clears or resumes a conversation lives on. */
export const endsUnlessItGoesOn = ({ reason }: JsonObject): HookAct => {
  if (reason === 'clear' || reason === 'resume') return rests
  return reason === 'prompt_input_exit' || reason === 'logout' ? { ...ends, isClosed: true } : ends
}

/** A turn has failed, and nothing runs. `error` is a word of the harness: `rate_limit`. */
export const failed = ({ error, last_assistant_message: said }: JsonObject): HookAct => {
  const words = [error, said].filter((one) => typeof one === 'string')
  return words.length === 0 ? rests : { ...rests, failure: words.join(': ').slice(0, failureMax) }
}

/** A notice comes seconds after the prompt that it is about, so it is for harnesses without an event of their own. */
export const noticed = ({ notification_type: type }: JsonObject): HookAct => {
  if (type === 'permission_prompt' || type === 'ToolPermission') return asks
  return type === 'idle_prompt' ? rests : nothing
}

/** The output of Claude Code, which several harnesses have taken over. */
export const specificOutput = (hookEventName: string, additionalContext: string): JsonObject => ({
  hookSpecificOutput: { hookEventName, additionalContext },
})

/** Returns the effects of an event; of an unknown event, none. Pure. Source: S1-8, S1-15. */
export function actOf({ acts }: Pick<Hooks, 'acts'>, event: string, input: JsonObject): HookAct {
  const name = bareName(event)
  const act = Object.hasOwn(acts, name) ? acts[name]! : nothing
  return typeof act === 'function' ? act(input) : act
}

/** The part of an event in approvals; undefined: none. Pure. */
export function approvalPartOf(
  { approvals }: Pick<Hooks, 'approvals'>,
  event: string,
): 'asks' | 'one' | 'all' | undefined {
  const name = bareName(event)
  if (approvals?.asks === name) return 'asks'
  return approvals && Object.hasOwn(approvals.settles, name) ? approvals.settles[name] : undefined
}

/** True when the event is that of a prompt. Pure. */
export function beginsTurn({ prompt }: Pick<Hooks, 'prompt'>, event: string): boolean {
  return bareName(event) === prompt
}

function bareName(event: string): string {
  return event.toLowerCase().replace(/[^a-z]/g, '')
}
