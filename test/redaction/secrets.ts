interface Secret {
  readonly name: string
  readonly value: string
  readonly forms: readonly string[]
}

interface Emitted {
  readonly where: string
  readonly text: string
  /** Values that belong there: an answer that hands a key out, a push that carries its token. */
  readonly allowed: readonly string[]
}

/** The secrets of a run, and all of its output. */
export class SecretWatch {
  readonly #secrets = new Map<string, Secret>()
  readonly #emitted: Emitted[] = []

  secret(name: string, value: string): string {
    if (value.length < 12) throw new Error(`${name} is too short to be looked for.`)
    this.#secrets.set(value, { name, value, forms: formsOf(value) })
    return value
  }

  emit(where: string, content: string | Buffer, allowed: readonly string[] = []): void {
    this.#emitted.push({ where, text: Buffer.from(content as string).toString('latin1'), allowed })
  }

  get size(): { secrets: number; emitted: number; bytes: number } {
    const bytes = this.#emitted.reduce((sum, { text }) => sum + text.length, 0)
    return { secrets: this.#secrets.size, emitted: this.#emitted.length, bytes }
  }

  /** Where a secret was found in any of its forms: `<secret> in <where>`. */
  leaks(): string[] {
    const leaks: string[] = []
    for (const { where, text, allowed } of this.#emitted) {
      const allowedForms = new Set(allowed.flatMap(formsOf))
      for (const { name, forms } of this.#secrets.values()) {
        const found = forms.find((form) => !allowedForms.has(form) && text.includes(form))
        if (found) leaks.push(`${name} in ${where}: ${around(text, found)}`)
      }
    }
    return leaks
  }
}

/** As it is, in hex, for a URL, and in base64 wherever it begins in a longer text. */
function formsOf(value: string): string[] {
  const bytes = Buffer.from(value)
  const forms = [value, encodeURIComponent(value), bytes.toString('hex'), bytes.toString('hex').toUpperCase()]
  for (const offset of [0, 1, 2]) {
    const text = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    // The first characters depend on the preceding bytes, the last one on the following byte.
    const own = text.slice(offset === 0 ? 0 : offset + 1, -1)
    forms.push(own, own.replaceAll('+', '-').replaceAll('/', '_'))
  }
  // A key of the gateway without its prefix, and its decoded bytes.
  const bare = value.replace(/^(rk|whsec)_/, '')
  if (bare !== value) forms.push(bare)
  const decoded = Buffer.from(bare, 'base64')
  if (/^[\w+/=-]{43,}$/.test(bare) && decoded.length >= 32)
    forms.push(decoded.toString('hex'), decoded.toString('latin1'))
  return [...new Set(forms)].filter((form) => form.length >= 12)
}

function around(text: string, found: string): string {
  const at = text.indexOf(found)
  return JSON.stringify(text.slice(Math.max(0, at - 60), at + found.length + 20))
}
