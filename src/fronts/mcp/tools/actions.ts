import { Problem } from '../../../errors.ts'

/** Which arguments each action of a tool needs, and which it may have. */
export type Actions<Action extends string> = Readonly<
  Record<Action, { readonly needs: readonly string[]; readonly takes: readonly string[] }>
>

/** Refuses an argument that is missing, or that belongs to another action. Errors: `invalid-request`. Pure. */
export function checkAction<Action extends string>(
  input: { readonly action: Action } & object,
  actions: Actions<Action>,
): void {
  const { action, ...rest } = input
  const { needs, takes } = actions[action]
  const given = Object.entries(rest).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  const missing = needs.find((name) => !given.includes(name))
  if (missing !== undefined) throw wrong(missing, `is required for the action ${action}.`)
  const strange = given.find((name) => !needs.includes(name) && !takes.includes(name))
  if (strange === undefined) return
  const owners = (Object.keys(actions) as Action[]).filter((other) =>
    [...actions[other].needs, ...actions[other].takes].includes(strange),
  )
  throw wrong(strange, `belongs to the action ${owners.join(' or ')}, not to ${action}. Leave it out.`)
}

function wrong(field: string, reason: string): Problem {
  return new Problem('invalid-request', { field, detail: `${field}: ${reason}` })
}
