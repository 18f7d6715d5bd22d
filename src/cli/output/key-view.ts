import type { Io } from '../../client/io.ts'
import type { ApiKeyView, OperatorKeyView } from '../../client/route-types.ts'
import { table } from './table.ts'
import { when } from './when.ts'

export function keyTable(io: Io, keys: readonly ApiKeyView[]): string {
  const rows = keys.map((key) => [
    key.keyId,
    key.label,
    key.scopes.join(','),
    when(io, key.createdAt),
    when(io, key.expiresAt),
    when(io, key.lastUsedAt),
    key.createdBy,
    when(io, key.revokedAt),
  ])
  const headings = ['ID', 'LABEL', 'SCOPES', 'MADE', 'EXPIRES', 'LAST USED', 'MADE BY', 'REVOKED']
  return table(io, headings, rows, 'No keys.', ['MADE BY', 'MADE', 'SCOPES'])
}

export function operatorKeyTable(io: Io, keys: readonly OperatorKeyView[]): string {
  const rows = keys.map((key) => [
    key.keyId,
    key.label,
    key.approve ? `${key.role}, approve` : key.role,
    key.projects?.join(',') ?? 'all',
    when(io, key.expiresAt),
    when(io, key.lastUsedAt),
    when(io, key.revokedAt),
  ])
  const headings = ['ID', 'LABEL', 'ROLE', 'PROJECTS', 'EXPIRES', 'LAST USED', 'REVOKED']
  return table(io, headings, rows, 'No operator keys: the admin key is the only one.', ['LAST USED', 'PROJECTS'])
}
