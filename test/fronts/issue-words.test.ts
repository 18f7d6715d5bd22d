import { expect, test } from 'vitest'
import { z } from 'zod'
import { parse } from '../../src/fronts/validate.ts'

const request = z.strictObject({
  text: z.string().min(1).max(10).optional(),
  name: z.string().min(3).optional(),
  count: z.int().min(0).max(100).optional(),
  part: z.number().gt(0).optional(),
  isOpen: z.boolean().optional(),
  words: z.array(z.string()).min(2).max(3).optional(),
  filters: z.strictObject({ priority: z.enum(['low', 'high']) }).optional(),
  url: z.url().optional(),
  either: z.union([z.string(), z.null()]).optional(),
  version: z.literal('1').optional(),
  said: z.string('is said by the schema').optional(),
})

test.each<[object, string]>([
  [{ text: '' }, 'text: is empty. Send at least one character.'],
  [{ text: 'x'.repeat(11) }, 'text: is too long: at most 10 characters. Shorten it.'],
  [{ text: 5 }, 'text: is a number. Send a text.'],
  [{ name: 'x' }, 'name: is too short: at least 3 characters. Send more.'],
  [{ count: -1 }, 'count: is out of range. Send at least 0.'],
  [{ count: 101 }, 'count: is out of range. Send at most 100.'],
  [{ count: 1.5 }, 'count: is no whole number. Send a whole number.'],
  [{ count: null }, 'count: is null. Send a number.'],
  [{ part: Infinity }, 'part: is too large for a number. Send a number.'],
  [{ part: 0 }, 'part: is out of range. Send more than 0.'],
  [{ isOpen: 'yes' }, 'isOpen: is a text. Send true or false.'],
  [{ words: {} }, 'words: is an object. Send a list.'],
  [{ words: ['a'] }, 'words: is too short: at least 2 items. Send more.'],
  [{ words: ['a', 'b', 'c', 'd'] }, 'words: is too long: at most 3 items. Send fewer.'],
  [{ filters: [] }, 'filters: is a list. Send an object.'],
  [{ filters: {} }, 'filters.priority: is required: one of low, high'],
  [
    { filters: { priority: 'odd' } },
    'filters.priority: is not one of the values that it may have. Send one of low, high.',
  ],
  [{ url: 'odd' }, 'url: is not in the form of a URL. Correct it.'],
  [{ either: 1 }, 'either: has none of the forms that it may have. Send one of those in docs/api.md.'],
  [{ version: 2 }, 'version: is not one of the values that it may have. Send 1.'],
  [{ said: 1 }, 'said: is said by the schema'],
])('%j: the answer names the field, what is wrong and what to send instead', (input, detail) => {
  expect(() => parse(request, input)).toThrow(expect.objectContaining({ code: 'invalid-request', message: detail }))
})
