import type { z } from 'zod'

const kinds: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

/**
 * Says what is wrong with a value and what to send instead, where the schema itself does not. undefined: nothing is known about it. Pure.
 * An error map of zod.
 */
export function issueWords(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return missing(issue.input) ?? `is ${kindOf(issue.input)}. Send ${kinds[issue.expected] ?? issue.expected}.`
    case 'invalid_value':
      return missing(issue.input) ?? `is not one of the values that it may have. Send ${listed(issue.values)}.`
    case 'too_small':
      return bound(issue.origin, 'at least', issue.minimum, issue.inclusive)
    case 'too_big':
      return bound(issue.origin, 'at most', issue.maximum, issue.inclusive)
    case 'not_multiple_of':
      return `is no multiple of ${issue.divisor}. Send one.`
    case 'invalid_format':
      return `is not in the form of ${formats[issue.format] ?? 'this field'}. Correct it.`
    case 'invalid_union':
      return missing(issue.input) ?? 'has none of the forms that it may have. Send one of those in docs/api.md.'
    default:
      return undefined
  }

  function missing(input: unknown): string | undefined {
    return input === undefined ? `is required: ${requiredOf(issue)}` : undefined
  }
}

const formats: Readonly<Record<string, string>> = {
  url: 'a URL',
  datetime: 'an instant in ISO 8601',
  email: 'an email address',
  uuid: 'a UUID',
}

function requiredOf(issue: z.core.$ZodRawIssue): string {
  if (issue.code === 'invalid_value') return listed(issue.values)
  return issue.code === 'invalid_type' ? (kinds[issue.expected] ?? issue.expected) : 'send it.'
}

function listed(values: readonly unknown[]): string {
  return values.length === 1 ? String(values[0]) : `one of ${values.map(String).join(', ')}`
}

const units: Readonly<Record<string, [one: string, more: string]>> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
  set: ['item', 'items'],
  map: ['entry', 'entries'],
}

function bound(origin: string, words: 'at least' | 'at most', limit: number | bigint, inclusive = true): string {
  const [one, more] = units[origin] ?? []
  if (one === undefined && !inclusive)
    return `is out of range. Send ${words === 'at least' ? 'more' : 'less'} than ${limit}.`
  if (one === undefined) return `is out of range. Send ${words} ${limit}.`
  if (words === 'at least' && Number(limit) === 1) return `is empty. Send at least one ${one}.`
  const unit = Number(limit) === 1 ? one : more
  return words === 'at most'
    ? `is too long: at most ${limit} ${unit}. ${origin === 'string' ? 'Shorten it.' : 'Send fewer.'}`
    : `is too short: at least ${limit} ${unit}. Send more.`
}

function kindOf(input: unknown): string {
  if (input === null) return 'null'
  if (Array.isArray(input)) return 'a list'
  switch (typeof input) {
    case 'string':
      return 'a text'
    case 'boolean':
      return String(input)
    case 'object':
      return 'an object'
    case 'number':
      if (!Number.isFinite(input)) return 'too large for a number'
      return Number.isInteger(input) ? 'a number' : 'no whole number'
    default:
      return `a ${typeof input}`
  }
}
