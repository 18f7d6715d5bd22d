import type { JsonObject } from '../../../src/lib/json.ts'

/**
 * One request that is right, to be made wrong. `:word` stands for an id: of something of the caller's own, or, where the word begins with
 * `spare`, of something that is made for the one request.
 */
export interface Operation {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly query?: JsonObject
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** It is mostly sent as the operator: agents are refused before its input is read. */
  readonly as?: 'operator'
  /** It may ask the gateway to wait: its answer is not waited for. */
  readonly mayWait?: true
  /** It is refused as it is: what it names is not there. */
  readonly isRefused?: true
}

export function operation(name: string, method: string, path: string, more: Partial<Operation> = {}): Operation {
  return { name, method, path, ...more }
}

const word = /:([a-z]+)\b/gi

/** Replaces the words of a text that `idOf` knows. Pure. */
export function filled(text: string, idOf: (word: string) => string | undefined): string {
  return text.replace(word, (whole, name: string) => idOf(name) ?? whole)
}

/** The same for every text of a JSON value. Ids need no escape in JSON. Pure. */
export function filledJson<Value>(value: Value, ids: Readonly<Record<string, string>>): Value {
  return JSON.parse(filled(JSON.stringify(value), (name) => ids[name]))
}

/** The words that a value has. Pure. */
export function wordsOf(value: unknown): string[] {
  return [...new Set([...JSON.stringify(value).matchAll(word)].map(([, name]) => name!))]
}
