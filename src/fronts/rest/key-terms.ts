import { z } from 'zod'
import { keyLifeMax } from '../../registry/callers/new-key.ts'
import { line, time } from './fields.ts'

/** Input fields that the keys of agents and of operators share. */
export const termFields = {
  label: line(100).nullable().optional(),
  expiresAt: time('must be an instant in ISO 8601, e.g. 2026-12-31T00:00:00Z').optional(),
  expiresInSeconds: z
    .int({ error: 'must be a whole number of seconds' })
    .min(1, 'must be at least 1 second')
    .max(keyLifeMax, `is at most ${keyLifeMax} seconds`)
    .optional(),
}

interface Terms {
  readonly expiresAt?: number | undefined
  readonly expiresInSeconds?: number | undefined
}

/** Refuses input that gives the end of a key twice. */
export function withOneEnd<Schema extends z.ZodType<Terms>>(schema: Schema): Schema {
  return schema.refine((input) => input.expiresAt === undefined || input.expiresInSeconds === undefined, {
    path: ['expiresInSeconds'],
    error: 'means the same as expiresAt. Send only one of the two.',
  })
}

/** The end of a key as an instant, in whichever form it was given. */
export function keyTerms<Input extends Terms>({ expiresInSeconds, ...input }: Input, now: number) {
  return expiresInSeconds === undefined ? input : { ...input, expiresAt: now + expiresInSeconds * 1000 }
}
