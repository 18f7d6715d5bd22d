import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

/** Where a person finds a command to copy: pages, examples, and the texts that the program prints. */
const places = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'docs', 'examples', 'scripts', 'deploy', 'src']

/** A command that a person may copy, and that is run for each wake. */
interface Recipe {
  readonly place: string
  readonly command: string
}

/** The text of all of these files, as a reader sees it: in code a quote within quotes is escaped. */
export function readTexts(): { readonly place: string; readonly text: string }[] {
  return places.flatMap(filesIn).map((place) => {
    const text = readFileSync(join(root, place), 'utf8')
    return { place, text: /\.(ts|js|mjs)$/.test(place) ? text.replaceAll("\\'", "'") : text }
  })
}

/** Finds the commands after `--exec`, and those of the adapter `exec` in a configuration, word by word. */
export function findRecipes(): Recipe[] {
  return readTexts().flatMap(({ place, text }) => {
    const afterFlag = [...text.matchAll(/--exec (?:'([^'\n]+)'|(\.\/\S*?)[`'\s])/g)].map(
      ([, quoted, plain]) => quoted ?? plain!,
    )
    const configured = [...text.matchAll(/"exec": \{ "command": ("(?:[^"\\]|\\.)+")/g)].map(([, json]) =>
      JSON.parse(json!),
    )
    return [...afterFlag, ...configured].map((command: string) => ({ place, command }))
  })
}

function filesIn(place: string): string[] {
  if (/\.\w+$/.test(place)) return [place]
  const entries = readdirSync(join(root, place), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
}
