import type { z } from 'zod'
import type { Scope } from '../../../words/callers.ts'
import { type AnyTool, type Tool, tool } from '../tools/tool.ts'

/** A tool for the agent of an operator. The end of its name says what it does: `_read` looks, `_write` mends. */
export interface OperatorTool extends AnyTool {
  readonly name: `${string}_read` | `${string}_write`
  /** The scopes that a key needs for everything that the tool does. A key without them neither sees nor calls it. */
  readonly scopes: readonly Scope[]
}

type Fields<Input extends z.ZodObject, Output extends z.ZodObject> = Omit<Tool<Input, Output>, 'language'> &
  Pick<OperatorTool, 'name' | 'scopes'>

/** Declares a tool for operators. */
export function operatorTool<Input extends z.ZodObject, Output extends z.ZodObject>({
  name,
  scopes,
  ...fields
}: Fields<Input, Output>): OperatorTool {
  return { ...tool({ name, ...fields, language: 'operator' }), name, scopes }
}
