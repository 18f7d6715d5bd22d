import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { AdapterRow } from '../../../src/bridge/adapter.ts'
import { adapters } from '../../../src/harnesses/adapters.ts'

export const pagePath = resolve(import.meta.dirname, '../../../docs/adapters.md')

const [begin, end] = ['<!-- adapters -->\n', '<!-- /adapters -->\n']

/** The page with the table of the adapters that there are. */
export async function renderPage(): Promise<string> {
  const page = readFileSync(pagePath, 'utf8')
  const rows = await Promise.all(Object.values(adapters).map((load) => load()))
  const lines = [
    '| adapter | harness | proves, the strongest last | used | settings |',
    '| --- | --- | --- | --- | --- |',
  ]
  const [before, rest] = [page.slice(0, page.indexOf(begin) + begin.length), page.slice(page.indexOf(end))]
  return `${before}${[...lines, ...rows.map(lineOf)].join('\n')}\n${rest}`
}

function lineOf({ id, title, proves, isOptIn, settings }: AdapterRow): string {
  const described = Object.entries(settings).map(([name, { type, help }]) => `\`${name}\` (${type}): ${help}`)
  const cells = [
    `\`${id}\``,
    title,
    proves.join(', '),
    isOptIn ? 'where it is named' : 'always',
    described.join('<br>'),
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
}
