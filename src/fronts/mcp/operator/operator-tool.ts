import type { z } from 'zod'
import type { Scope } from '../../../words/callers.ts'
import { type AnyTool, type Tool, tool } from '../tools/tool.ts'

/** A tool for the agent of an operator. The end of its name says what it does: `_read` looks, `_write` mends. */
export interface OperatorTool extends AnyTool {
  readonly name: `${string}_read` | `${string}_write`
  /** The scopes that a key needs for everything that the tool does. A key without them neither sees nor calls it. */
  readonly scopes: readonly Scope[]
}

type Fields<Input extends z.ZodObject, Output extends z.ZodObject> = Omit<Tool<Input, Output>, 'words'> &
  Pick<OperatorTool, 'name' | 'scopes'>

/** Declares a tool for operators. */
export function operatorTool<Input extends z.ZodObject, Output extends z.ZodObject>({
  name,
  scopes,
  ...fields
}: Fields<Input, Output>): OperatorTool {
  return { ...tool({ name, ...fields, words: refusalWords }), name, scopes }
}

/** Sentences of refusals that would name the tools of agents, or a command. */
const refusalWords: Required<AnyTool>['words'] = [
  [/`rouse (?:agent list|who)` lists the agents\./, 'agents_read lists the agents.'],
  [/`rouse sub list` lists your subscriptions\./, 'subscriptions_read lists the subscriptions.'],
  [/GET \/v1\/needs lists what does\./, 'needs_read lists what does.'],
  [/List your tasks to find it\./, 'tasks_read lists the tasks.'],
  [/`GET \/v1\/tasks`/g, 'tasks_read'],
  [
    /Make it active first: PATCH \{"status":"active"\}/,
    'Make it active first: subscription_write with the action activate',
  ],
  [
    /Run `rouse wake test ([^`]+)`, and send the messageId of the test once it is acknowledged\./,
    'Send $1 a wake test with message_write (subject "Wake test 1", wakePolicy immediate, body: acknowledge this and do nothing else), and give its messageId as proof once it is acknowledged.',
  ],
  [
    /Run `rouse wake test ([^`]+)` again\./,
    'Send $1 another one with message_write: its subject begins with "Wake test ".',
  ],
  [/Open GET \/v1\/wake-stream, or run `rouse listen`\./, 'Its reader has to connect: rouse listen, or rouse bridge.'],
]
