import type { z } from 'zod'
import { Problem } from '../errors.ts'
import { cutText } from '../lib/cut-text.ts'

/** Fields that one refusal names. */
const problemsMax = 10

/** Parses input. Errors: `invalid-request`, which names the first invalid field and says what is wrong with it. */
export function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  requireFewFields(value)
  const result = schema.safeParse(value ?? {})
  if (result.success) return result.data
  const problems = result.error.issues.slice(0, problemsMax).flatMap(describe).slice(0, problemsMax)
  const { field, reason } = problems[0] ?? { field: '', reason: 'is not valid' }
  throw new Problem('invalid-request', {
    ...(field ? { field } : {}),
    detail: field ? `${field}: ${reason}` : reason,
    ...(problems.length > 1
      ? { extra: { errors: problems.map((problem) => ({ field: problem.field, detail: problem.reason })) } }
      : {}),
  })
}

/** More than any request has. The schemas look at each field that they do not know, and name it. */
const fieldsMax = 1_000

function requireFewFields(value: unknown): void {
  if (typeof value !== 'object' || Array.isArray(value)) return
  let count = 0
  for (const _field in value) {
    if (++count <= fieldsMax) continue
    throw new Problem('invalid-request', {
      detail: `The request has more than ${fieldsMax} fields. No request has so many: send those of its schema.`,
    })
  }
}

/** Characters of a field's path in an answer: the caller chose its names. */
const pathMax = 300

function describe(issue: z.core.$ZodIssue): { field: string; reason: string }[] {
  const path = issue.path
    .map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i === 0 ? '' : '.'}${String(key)}`))
    .join('')
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, problemsMax).map((key) => ({
      field: cutText(path ? `${path}.${key}` : key, pathMax),
      reason: 'is not a field of this request. Remove it or check its spelling.',
    }))
  }
  const isMissing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined')
  return [{ field: cutText(path, pathMax), reason: isMissing ? `is required: ${issue.expected}` : issue.message }]
}
