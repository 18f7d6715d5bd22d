import type { z } from 'zod'
import { Problem } from '../errors.ts'
import { cutText } from '../lib/cut-text.ts'
import { remedies } from '../remedies.ts'

/** Fields that one refusal names. */
const problemsMax = 10

/** Parses input. Errors: `invalid-request`, which names the first invalid field and says what is wrong with it. */
export function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  requireFewFields(value)
  const result = schema.safeParse(value ?? {})
  if (result.success) return result.data
  const flaws = result.error.issues.slice(0, problemsMax).flatMap(describe).slice(0, problemsMax)
  const [{ field, reason, said = reason, remedy, max } = { field: '', reason: 'is not valid' }] = flaws
  const errors = flaws.map((flaw) => ({ field: flaw.field, detail: flaw.reason }))
  const more = flaws.length > 1 ? { errors } : {}
  throw new Problem('invalid-request', {
    ...(field ? { field } : {}),
    detail: field ? `${field}: ${said}`.trimEnd() : said,
    ...(max === undefined ? { remedy, extra: more } : { remedy: 'shorten', extra: { max, ...more } }),
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

interface Flaw {
  readonly field: string
  readonly reason: string
  /** The reason without its remedy, if it has one: its key, or how many characters a shorter text has at most. */
  readonly said?: string
  readonly remedy?: 'use-page-token'
  readonly max?: number
}

const wrongToken = 'is not a page token of this list.'

/** The flaw of a page token that its schema refuses. */
export const notAPageToken = `${wrongToken} ${remedies['use-page-token'].http}`

function remedyFor(issue: z.core.$ZodIssue): Partial<Flaw> {
  if (issue.message === notAPageToken) return { said: wrongToken, remedy: 'use-page-token' }
  const max = issue.code === 'too_big' ? Number(issue.maximum) : 0
  return issue.message === remedies.shorten({ max }).http ? { said: '', max } : {}
}

function describe(issue: z.core.$ZodIssue): Flaw[] {
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
  const reason = isMissing ? `is required: ${issue.expected}` : issue.message
  return [{ field: cutText(path, pathMax), reason, ...remedyFor(issue) }]
}
