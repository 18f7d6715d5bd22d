import type { JsonObject } from '../lib/json.ts'
import type { PresenceState } from '../words/presence.ts'

/** What follows from an event of a harness. */
export interface HookAct {
  /** What the harness does from now on. */
  readonly state?: PresenceState
  /** The harness accepts text for the model: the waiting mail is listed. Source: S1-15. */
  readonly tellsMail?: true
  /** The conversation ends, and perhaps the process with it. */
  readonly ends?: true
}

/** A program whose hooks call `rouse hook`. */
interface Harness {
  /** The surface of its sessions. */
  readonly surface: string
  /** What follows from each event, by its name in lower case without separators. */
  readonly events: Readonly<Record<string, HookAct | ((input: JsonObject) => HookAct)>>
  /** The standard output that adds text to the context of the model. */
  readonly contextOutput: (event: string, text: string) => JsonObject
}

const starts: HookAct = { state: 'idle', tellsMail: true }
const prompted: HookAct = { state: 'active', tellsMail: true }
const works: HookAct = { state: 'active' }
const asks: HookAct = { state: 'waitingOnApproval' }
const rests: HookAct = { state: 'idle' }
const ends: HookAct = { ends: true }
const nothing: HookAct = {}

/** A process that clears or resumes a conversation lives on. */
const endsUnlessItGoesOn = ({ reason }: JsonObject): HookAct =>
  reason === 'clear' || reason === 'resume' ? rests : ends

/** A notice comes seconds after the prompt that it is about, so it is for harnesses without an event of their own. */
const noticed = ({ notification_type: type }: JsonObject): HookAct => {
  if (type === 'permission_prompt' || type === 'ToolPermission') return asks
  return type === 'idle_prompt' ? rests : nothing
}

const specificOutput = (hookEventName: string, additionalContext: string): JsonObject => ({
  hookSpecificOutput: { hookEventName, additionalContext },
})

const claudeEvents = {
  sessionstart: starts,
  userpromptsubmit: prompted,
  permissionrequest: asks,
  posttooluse: works,
  notification: noticed,
  stop: rests,
  stopfailure: rests,
  sessionend: endsUnlessItGoesOn,
}

/** The harnesses by the name that their configuration gives to `rouse hook`. */
export const harnesses: Readonly<Record<string, Harness>> = {
  claude: { surface: 'claude_code', events: claudeEvents, contextOutput: specificOutput },
  codex: { surface: 'codex', events: { ...claudeEvents, interrupt: rests }, contextOutput: specificOutput },
  qwen: { surface: 'qwen', events: claudeEvents, contextOutput: specificOutput },
  gemini: {
    surface: 'gemini',
    events: {
      sessionstart: starts,
      beforeagent: prompted,
      afteragent: rests,
      notification: noticed,
      sessionend: endsUnlessItGoesOn,
    },
    contextOutput: specificOutput,
  },
  cursor: {
    surface: 'cursor',
    // Only the start of a session takes text for the model; `stop` would start a turn with it.
    events: { sessionstart: starts, beforesubmitprompt: works, stop: rests, sessionend: ends },
    contextOutput: (_event, text) => ({ additional_context: text }),
  },
  copilot: {
    surface: 'copilot',
    events: {
      sessionstart: starts,
      userpromptsubmitted: works,
      agentstop: rests,
      notification: noticed,
      sessionend: ends,
    },
    contextOutput: (_event, text) => ({ additionalContext: text }),
  },
}

/** What follows from an event; of an unknown harness or event, nothing. Pure. Source: S1-8, S1-15. */
export function actOf(harness: string, event: string, input: JsonObject): HookAct {
  const events = Object.hasOwn(harnesses, harness) ? harnesses[harness]!.events : {}
  const name = bareName(event)
  const act = Object.hasOwn(events, name) ? events[name]! : nothing
  return typeof act === 'function' ? act(input) : act
}

/** Whether the event is that of a prompt, which its harness is about to give to the model. Pure. */
export function beginsTurn(event: string): boolean {
  return ['userpromptsubmit', 'userpromptsubmitted', 'beforesubmitprompt', 'beforeagent'].includes(bareName(event))
}

function bareName(event: string): string {
  return event.toLowerCase().replace(/[^a-z]/g, '')
}
