import type { JsonObject } from '../../lib/json.ts'
import type { ApiKey } from '../../registry/callers/api-key-store.ts'
import type { OperatorKey } from '../../registry/callers/operator-key-store.ts'

/** ISO 8601; null stays null. */
export function instant(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

/** A key without the key. */
export function apiKeyView({ scopes, ...key }: ApiKey): JsonObject {
  return {
    ...key,
    scopes: [...scopes],
    expiresAt: instant(key.expiresAt),
    lastUsedAt: instant(key.lastUsedAt),
    createdAt: instant(key.createdAt),
    revokedAt: instant(key.revokedAt),
  }
}

/** An operator's key without the key. `projects`: null for every project. */
export function operatorKeyView({ id, projects, ...key }: OperatorKey): JsonObject {
  return {
    ...key,
    keyId: id,
    projects: projects === null ? null : [...projects],
    expiresAt: instant(key.expiresAt),
    lastUsedAt: instant(key.lastUsedAt),
    createdAt: instant(key.createdAt),
    revokedAt: instant(key.revokedAt),
  }
}
