import { z } from 'zod'
import { isOneLine, isStorable, lineFlaw } from '../../lib/words.ts'
import { sizeLimits } from '../../limits.ts'

/** Text of any number of lines that both stores and UTF-8 can carry. */
export const text = (max: number) =>
  z.string().max(max).refine(isStorable, 'contains U+0000 or half of a surrogate pair. Remove it.')

/** Text of one line: what a terminal or a model shows is what it says. */
export const line = (max: number) =>
  z
    .string()
    .max(max)
    .refine(isOneLine, { error: ({ input }) => lineFlaw(String(input)) })

/** A number in a query string. Digits only, so that an empty value is not read as 0. */
export function count(min: number, max: number, error = `is a number from ${min} to ${max}`) {
  return z
    .string({ error })
    .regex(/^\d{1,16}$/, error)
    .meta({ minimum: min, maximum: max })
    .transform(Number)
    .refine((value) => value >= min && value <= max, error)
}

const flagFault = 'is true or false; 1 and 0 say the same'

/** True or false in a query string, also as Python writes it (`True`); false when it is left out. */
export const flag = z
  .string({ error: flagFault })
  .regex(/^(?:true|false|1|0)$/i, flagFault)
  .meta({ isFlag: true })
  .transform((word) => /^(?:true|1)$/i.test(word))
  .optional()

/** One of a list of words. The refusal of any other lists them. */
export function oneOf<const Word extends string>(words: readonly Word[]) {
  const list = `one of ${words.join(', ')}`
  return z.enum(words, { error: ({ input }) => (input === undefined ? `is required: ${list}` : `is ${list}`) })
}

/** An instant in ISO 8601, as it was written: nanoseconds with an offset have 35 characters. */
export function instantText(error?: string) {
  return z.iso.datetime({ offset: true, ...(error === undefined ? {} : { error }) }).max(40)
}

/** An instant in ISO 8601, as ms since the epoch. */
export function time(error?: string) {
  return instantText(error).transform((at) => Date.parse(at))
}

export const names = z.array(line(200).min(1)).max(100)

/** An agent of this project, or of another one as `web:@donna`. */
export const address = line(110).min(1)

/** The tagged concepts of a message. They are in the message, in its events, and in every filter. */
export const concepts = z.array(line(sizeLimits.id.max).min(1)).max(sizeLimits.items.max)
