import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { closestWord } from '../../lib/nearest-names.ts'
import type { SettingMeaning } from '../adapter.ts'

/** Collects what is wrong with a configuration: a sentence each, with the field and the remedy. */
export class Problems {
  readonly all: string[] = []

  add(field: string, text: string): undefined {
    this.all.push(`${field}: ${text}`)
    return undefined
  }
}

/** An object with these fields and no others; undefined, with the problems noted: it is none. */
export function objectOf(
  value: unknown,
  field: string,
  known: readonly string[],
  problems: Problems,
): JsonObject | undefined {
  if (!isJsonObject(value)) return problems.add(field, `must be an object, { … }. It has: ${known.join(', ')}.`)
  for (const name of Object.keys(value).filter((one) => !known.includes(one))) {
    const meant = closestWord(name, known)
    const remedy = meant === undefined ? `There are: ${known.join(', ') || 'none'}.` : `Did you mean ${meant}?`
    problems.add(nameIn(field, name), `is no setting. ${remedy}`)
  }
  return value
}

/** A list with at least one item, each read; undefined: it is none. */
export function listOf<Item>(
  value: unknown,
  field: string,
  { max, read, what }: { max: number; read: (item: unknown, field: string) => Item | undefined; what: string },
  problems: Problems,
): Item[] | undefined {
  if (!Array.isArray(value)) return problems.add(field, `must be a list of ${what}: [ … ].`)
  if (value.length === 0) return problems.add(field, `is empty. Name at least one of: ${what}.`)
  if (value.length > max) return problems.add(field, `has ${value.length} items. At most ${max} are read.`)
  return value.map((item, index) => read(item, `${field}[${index}]`)).filter((item) => item !== undefined)
}

/** One of some words; undefined: it is none of them. */
export function wordOf<const Word extends string>(
  value: unknown,
  field: string,
  words: readonly Word[],
  problems: Problems,
): Word | undefined {
  const found = words.find((word) => word === value)
  if (found !== undefined) return found
  const meant = typeof value === 'string' ? closestWord(value, words) : undefined
  const remedy = meant === undefined ? `It is one of: ${words.join(', ')}.` : `Did you mean ${meant}?`
  return problems.add(field, `${JSON.stringify(value) ?? 'nothing'} is not known. ${remedy}`)
}

/** A whole number within bounds, or the default where there is none. */
export function countOf(
  value: unknown,
  field: string,
  { min, max, otherwise }: { min: number; max: number; otherwise: number },
  problems: Problems,
): number {
  if (value === undefined) return otherwise
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
  problems.add(field, `must be a whole number from ${min} to ${max}. Leave it out for ${otherwise}.`)
  return otherwise
}

const textMax = 4_000

/** A setting of an adapter is of the type that its row says. */
export function checkSetting(value: unknown, field: string, { type, help }: SettingMeaning, problems: Problems): void {
  if (isSetting(value, type)) return
  problems.add(field, `must be ${typeNames[type]}: ${help}.`)
}

function isSetting(value: unknown, type: SettingMeaning['type']): boolean {
  const isText = (one: unknown) => typeof one === 'string' && one !== '' && one.length <= textMax && !one.includes('\0')
  if (type === 'strings') return Array.isArray(value) && value.length <= 100 && value.every(isText)
  if (type === 'string') return isText(value)
  return typeof value === type && (type !== 'number' || Number.isFinite(value))
}

const typeNames = {
  boolean: 'true or false',
  number: 'a number',
  string: 'a text',
  strings: 'a list of texts',
} as const satisfies Record<SettingMeaning['type'], string>

export const nameIn = (field: string, name: string): string => (field === '' ? name : `${field}.${name}`)
