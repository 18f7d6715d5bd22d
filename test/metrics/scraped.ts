/** The text of a scrape, and its values. */
export interface Scraped {
  readonly text: string
  /** The value of a series with exactly these labels; undefined: there is none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined
}

export function scraped(text: string): Scraped {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const values = new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]))
  return {
    text,
    value(name, labels = {}) {
      const given = Object.entries(labels).map(([label, word]) => `${label}="${word}"`)
      return values.get(given.length === 0 ? name : `${name}{${given.join(',')}}`)
    },
  }
}
