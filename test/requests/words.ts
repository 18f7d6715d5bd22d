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
