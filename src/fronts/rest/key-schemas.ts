import { z } from 'zod'
import { keyLimits } from '../../limits.ts'
import { operatorRoleNames } from '../../registry/callers/operator-role.ts'
import { scopes } from '../../registry/callers/scopes.ts'
import { line, oneOf } from './schemas.ts'

const terms = {
  label: line(100).nullable().optional(),
  expiresAt: z.iso
    .datetime({ offset: true, error: 'is an instant in ISO 8601, e.g. 2026-12-31T00:00:00Z' })
    .transform((at) => Date.parse(at))
    .optional(),
  expiresInSeconds: z
    .int({ error: 'is whole seconds' })
    .min(1, 'is at least one second')
    .max(keyLimits.keyLife.max, `is at most ${keyLimits.keyLife.max} seconds`)
    .optional(),
}
const oneEnd = {
  check: (input: { expiresAt?: number | undefined; expiresInSeconds?: number | undefined }) =>
    input.expiresAt === undefined || input.expiresInSeconds === undefined,
  options: { path: ['expiresInSeconds'], error: 'says the same as expiresAt. Send one of them.' },
}

/** `POST /v1/agents/{handle}/keys` */
export const keyInput = z
  .strictObject({ ...terms, scopes: z.array(oneOf(scopes)).min(1).max(scopes.length).optional() })
  .refine(oneEnd.check, oneEnd.options)
/** `POST /v1/operator-keys` */
export const operatorKeyInput = z
  .strictObject({
    ...terms,
    role: oneOf(operatorRoleNames),
    projects: z.array(line(40).min(1)).min(1).max(keyLimits.operatorProjects.max).optional(),
  })
  .refine(oneEnd.check, oneEnd.options)

const flag = oneOf(['true', 'false'])
  .transform((word) => word === 'true')
  .default(false)
/** `DELETE /v1/agents/{handle}/keys/{keyId}` */
export const keyRemoval = z.strictObject({ minted: flag, keep: flag })
/** `DELETE /v1/operator-keys/{keyId}` */
export const operatorKeyRemoval = z.strictObject({ minted: flag })
/** `DELETE /v1/agents/{handle}` */
export const removalQuery = z.strictObject({ freeNames: flag })
/** `POST /v1/tokens/revoke` */
export const tokenInput = z.strictObject({ token: line(keyLimits.bearer.max).min(1) })

/** The end of a key as an instant, whichever way it was said. */
export function keyTerms<Input extends { expiresAt?: number | undefined; expiresInSeconds?: number | undefined }>(
  { expiresInSeconds, ...input }: Input,
  now: number,
) {
  return expiresInSeconds === undefined ? input : { ...input, expiresAt: now + expiresInSeconds * 1000 }
}
