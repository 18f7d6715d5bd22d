import { Problem } from '../errors.ts'
import { type Caller, requireAdmin } from '../registry/callers/caller.ts'
import { requireLiveKey } from '../registry/callers/live-key.ts'
import { keyGrant } from '../registry/callers/new-key.ts'
import {
  createOperatorKey,
  findOperatorKeyById,
  listOperatorKeys,
  type OperatorKey,
  revokeOperatorKey,
} from '../registry/callers/operator-key-store.ts'
import { requireProject } from '../registry/projects/project-store.ts'
import { parseProject } from '../registry/projects/projects.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import type { OperatorRole } from '../words/callers.ts'
import type { RevokeOptions } from './api-keys.ts'
import type { IdentityContext } from './context.ts'
import { endKeys } from './end-keys.ts'
import { revokeMintedBy } from './revoke-minted.ts'

interface OperatorKeyInput {
  readonly role: OperatorRole
  /** Absent: every project. */
  readonly projects?: readonly string[] | undefined
  /** The name of its person. */
  readonly label?: string | null | undefined
  /** True: it has the scope `approve`, for the person of its label. */
  readonly approve?: boolean | undefined
  /** ms since the epoch */
  readonly expiresAt?: number | undefined
}

/**
 * Makes a key for another operator. It is shown only once. Admins only; it cannot expire later than the key that makes it. Errors: `forbidden`,
 * `project-not-found`, `invalid-request`.
 */
export function addOperatorKey(
  context: Pick<IdentityContext, 'db'>,
  caller: Caller,
  input: OperatorKeyInput,
): Promise<{ id: string; operatorKey: string; expiresAt: number | null }> {
  requireAdmin(caller, 'make operator keys')
  requireReach(input)
  requirePerson(input)
  return context.db.transaction(async (tx) => {
    const projects =
      input.projects === undefined ? null : [...new Set(input.projects.map((id) => parseProject(id, 'projects')))]
    for (const id of projects ?? []) await requireProject(tx, id)
    await requireLiveKey(tx, caller)
    const { expiresAt } = keyGrant(caller, input, tx.now)
    if (input.approve && caller.name !== input.label) await requireFreeName(tx, input.label!)
    const made = await createOperatorKey(tx, {
      label: input.label ?? null,
      role: input.role,
      projects,
      approves: input.approve ?? false,
      expiresAt,
      createdByKey: caller.keyId,
    })
    return { ...made, expiresAt }
  })
}

/** Returns every operator key, also the revoked ones, oldest first. Admins only. */
export async function readOperatorKeys(db: Reader, caller: Caller): Promise<OperatorKey[]> {
  requireAdmin(caller, 'list operator keys')
  return listOperatorKeys(db)
}

/**
 * Revokes an operator key and ends its resources. Admins and the key itself may do that. With `minted` it also revokes every key
 * that it made, of operators and agents, also if this key was revoked before. Errors: `key-not-found`, `forbidden`.
 */
export function removeOperatorKey(
  context: IdentityContext,
  caller: Caller,
  id: string,
  options: Pick<RevokeOptions, 'minted'> = {},
): Promise<void> {
  if (caller.keyId !== id) requireAdmin(caller, 'revoke operator keys')
  return context.db.transaction(async (tx) => {
    const key = await findOperatorKeyById(tx, id)
    const isLive = key?.revokedAt === null
    if (isLive) {
      await revokeOperatorKey(tx, id)
      await endKeys(context, tx, [{ keyId: id }], { reason: 'key-revoked', actor: caller.identity })
    }
    const minted = key && options.minted ? await revokeMintedBy(context, tx, id, caller) : 0
    if (isLive || minted > 0) return
    throw new Problem('key-not-found', { detail: `No live operator key "${id}".`, remedy: 'list-operator-keys' })
  })
}

/** A key that approves has the name of a person, and may do more than read. */
function requirePerson({ role, label, approve }: OperatorKeyInput): void {
  if (!approve) return
  if (role === 'viewer') {
    throw new Problem('invalid-request', {
      field: 'approve',
      detail: 'approve: a viewer only reads.',
      remedy: 'use-manager',
    })
  }
  if (label?.trim()) return
  throw new Problem('invalid-request', {
    field: 'label',
    detail: 'label: is required with approve. It is the name of the person who decides, e.g. anna.',
  })
}

/** A decision names its person: a second key under that name would be somebody else. The person itself may make one. */
async function requireFreeName(tx: Transaction, label: string): Promise<void> {
  const name = label.trim().toLowerCase()
  const isOf = ({ label: other, approves, revokedAt, expiresAt }: OperatorKey): boolean =>
    approves && revokedAt === null && (expiresAt ?? tx.now + 1) > tx.now && other?.trim().toLowerCase() === name
  const held = (await listOperatorKeys(tx)).find(isOf)
  if (!held) return
  throw new Problem('invalid-request', {
    field: 'label',
    detail: `label: the key ${held.id} approves under this name. Revoke it first, or give the name of another person.`,
  })
}

function requireReach({ role, projects }: OperatorKeyInput): void {
  if (role === 'admin' && projects !== undefined) {
    throw new Problem('invalid-request', {
      field: 'projects',
      detail: 'projects: an admin has every project.',
      remedy: 'use-manager',
    })
  }
}
