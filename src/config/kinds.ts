import {
  cidrs,
  listOf,
  requireHttp,
  requireNameServers,
  requirePostgres,
  requireProxy,
  requireRedis,
  requireTarget,
} from '../security/configured-addresses.ts'
import { SecretBox } from '../security/secret.ts'

/** A key that a person made up is weaker than its length suggests. */
const bearerKeyMin = 24

/** One kind of values of settings. */
export interface Kind<Value> {
  /** The values for people, in Markdown: `1–30`. Empty: any text. */
  readonly values: string
  /** Returns the value of a text, which is neither empty nor surrounded by space. Throws an Error with the remedy. */
  parse(text: string): Value
  /** True when the sentence about a wrong text repeats it. It may be a secret otherwise. */
  readonly isRepeated: boolean
}

function kind<Value>(values: string, parse: (text: string) => Value, isRepeated = false): Kind<Value> {
  return { values, parse, isRepeated }
}

/** A text that `require` takes. */
function checked(values: string, require: (text: string) => void, isRepeated = false): Kind<string> {
  const parse = (given: string): string => {
    require(given)
    return given
  }
  return kind(values, parse, isRepeated)
}

export const text = (values = '') => kind(values, (given) => given)
/** A URL without the slashes at its end. */
export const httpUrl = kind('`http://…`, `https://…`', (given) => {
  const url = given.replace(/\/+$/, '')
  requireHttp(url)
  return url
})
export const target = checked('`host:port`', requireTarget, true)
export const postgresUrl = checked('`postgres://…`', requirePostgres)
export const redisUrl = checked('`redis://…`', requireRedis)
export const proxyUrl = checked('`http://…`, `https://…`', requireProxy)
export const networks = kind<readonly string[]>('CIDRs, `none`', cidrs)
/** The newest first; every one is accepted. */
export const bearerKeys = kind<readonly string[]>(`keys of ${bearerKeyMin} characters or more`, (given) => {
  const keys = listOf(given)
  if (keys.every(({ length }) => length >= bearerKeyMin)) return keys
  throw new Error(`give each key at least ${bearerKeyMin} characters, better 32 (openssl rand -hex 32).`)
})
/** The newest first; every one is tried. */
export const encryptionKeys = kind<readonly string[]>('32 bytes in base64', (given) => {
  const keys = listOf(given)
  new SecretBox(keys)
  return keys
})
export const nameServers = kind<readonly string[]>('addresses, `address:port`', (given) => {
  const servers = listOf(given)
  requireNameServers(servers)
  return servers
})

export const file = checked('', (path) => {
  // A private key may stand in the place of its path.
  if (path.includes('-----BEGIN')) throw new Error('give the path of the PEM file, not its content.')
})

/** A number, which is multiplied by `factor`. With `zero`, the meaning of 0, it is whole. */
export function number(min: number, max: number, { factor = 1, zero = '' } = {}): Kind<number> {
  const parse = (given: string): number => {
    const value = Number(given)
    if (!Number.isFinite(value) || value < min || value > max) throw new Error(`give a number from ${min} to ${max}.`)
    if (zero === '' || Number.isInteger(value)) return Math.round(value * factor)
    throw new Error(`give a whole number from ${min} to ${max}; 0 is ${zero}.`)
  }
  return kind(`${min}–${max}`, parse, true)
}

/** Seconds, in ms. */
export const seconds = (min: number, max: number) => number(min, max, { factor: 1_000 })
/** Days, in ms. */
export const days = number(0, 36_500, { factor: 24 * 60 * 60 * 1_000 })
/** A whole number, where 0 means no limit. */
export const limit = (max: number) => number(0, max, { zero: 'no limit' })
export const port = number(0, 65_535, { zero: 'any free port' })

/** One of the words, in whatever case it is given. */
export function oneOf<const Word extends string>(...words: readonly Word[]): Kind<Word> {
  const parse = (given: string): Word => {
    const chosen = words.find((word) => word === given.toLowerCase())
    if (chosen === undefined) throw new Error(`give one of ${words.join(', ')}.`)
    return chosen
  }
  return kind(words.map((word) => `\`${word}\``).join(', '), parse, true)
}

/** One of the words. True: it is `yes`. */
export function isWord(yes: string, ...words: readonly string[]): Kind<boolean> {
  const { values, parse } = oneOf(...words)
  return kind(values, (given) => parse(given) === yes, true)
}

/** A value of another kind, or `off`: undefined. */
export function orOff<Value>(of: Kind<Value>): Kind<Value | undefined> {
  const parse = (given: string) => (given.toLowerCase() === 'off' ? undefined : of.parse(given))
  return kind([of.values, '`off`'].filter(Boolean).join(', '), parse, of.isRepeated)
}
