import type { Io } from '../io.ts'
import { table } from '../table.ts'

/** A key as the gateway shows it: an agent's, or an operator's. */
export interface KeyView {
  keyId: string
  label?: string | null
  scopes?: string[]
  role?: string
  projects?: string[] | null
  expiresAt?: string | null
  lastUsedAt?: string | null
  createdBy?: string | null
  revokedAt?: string | null
}

export function keyTable(io: Io, keys: readonly KeyView[]): string {
  const rows = keys.map((key) => [
    key.keyId,
    key.label,
    key.scopes?.join(','),
    key.expiresAt,
    key.lastUsedAt,
    key.createdBy,
    key.revokedAt,
  ])
  return table(io, ['ID', 'LABEL', 'SCOPES', 'EXPIRES', 'LAST USED', 'MADE BY', 'REVOKED'], rows, 'No keys.')
}

export function operatorKeyTable(io: Io, keys: readonly KeyView[]): string {
  const rows = keys.map((key) => [
    key.keyId,
    key.label,
    key.role,
    key.projects?.join(',') ?? 'all',
    key.expiresAt,
    key.lastUsedAt,
    key.revokedAt,
  ])
  const headings = ['ID', 'LABEL', 'ROLE', 'PROJECTS', 'EXPIRES', 'LAST USED', 'REVOKED']
  return table(io, headings, rows, 'No operator keys: the admin key is the only one.')
}
