import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { settingList } from '../../../src/config/settings.ts'

export const pagePath = fileURLToPath(new URL('../../../docs/configuration.md', import.meta.url))

const begin =
  '<!-- Made from src/config/settings.ts by `npm run settings:docs`. A test fails when the two differ. -->\n'
const end = '<!-- The end of the settings. -->\n'

/** Returns docs/configuration.md with the settings that the code defines. Its prose stays. */
export function renderPage(): string {
  const page = readFileSync(pagePath, 'utf8')
  const [before, rest] = parts(page, begin)
  const [, after] = parts(rest, end)
  return `${before}${begin}\n${table()}\n${secrets()}\n${end}${after}`
}

function table(): string {
  const rows = settingList.map(({ name, kind, shown, what }) => [`\`${name}\``, kind.values, shown, what])
  const lines = [['name', 'values', 'default', 'what'], ['---', '---', '---', '---'], ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('')
}

function secrets(): string {
  const names = settingList.filter(({ isSecret }) => isSecret).map(({ name }) => `\`${name}\``)
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)} may be read from files:
\`ROUSE_ADMIN_KEY_FILE\` names the file of the admin key, and so on.
`
}

function parts(text: string, marker: string): [string, string] {
  const at = text.indexOf(marker)
  if (at === -1) throw new Error(`${pagePath} has no line ${marker}`)
  return [text.slice(0, at), text.slice(at + marker.length)]
}
