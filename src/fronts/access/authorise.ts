import { Problem } from '../../errors.ts'
import { type Caller, requireAdmin, requireOperator } from '../../registry/callers/caller.ts'
import type { Scope } from '../../words/callers.ts'
import type { Operation } from './operation.ts'

/**
 * Throws `forbidden` where a caller may not use an operation at all. Runs before anything but the caller is read; over A2A on HTTP,
 * also the called agent and the body, in which JSON-RPC names the operation. The rest of a row (`own`, `party`, `granted`, …) is
 * checked where the stored data is read.
 */
export function authorise(operation: Operation, caller: Caller): void {
  requireKind(operation, caller)
  if (operation.scope !== 'any') requireScope(caller, operation.scope, operation.name)
  if (operation.also !== undefined) requireScope(caller, operation.also, operation.name)
}

/** Throws `forbidden` where a key lacks a scope. `what`: what needs it, as the begin of a sentence. */
export function requireScope(caller: Caller, scope: Scope, what: string): void {
  if (caller.scopes.includes(scope)) return
  throw new Problem('forbidden', {
    detail: `${what} needs the scope "${scope}", and this key has ${listed(caller.scopes)}.`,
    remedy: scope === 'approve' ? 'use-key-of-person' : 'use-key-with-scope',
    extra: { scope },
  })
}

function requireKind({ what, scope, operator, agent }: Operation, caller: Caller): void {
  if (caller.kind === 'agent') {
    // An admin's key is none of a person.
    if (agent === 'never' && scope === 'approve') {
      throw new Problem('forbidden', { detail: `Only an operator may ${what}.`, remedy: 'use-key-of-person' })
    }
    if (agent === 'never') requireOperator(caller, what)
    return
  }
  if (operator === 'admin') requireAdmin(caller, what)
  if (operator === 'never') throw new Problem('forbidden', { detail: `Only an agent may ${what}; use an agent's key.` })
}

function listed(scopes: readonly string[]): string {
  return scopes.length === 0 ? 'none' : scopes.map((scope) => `"${scope}"`).join(', ')
}
