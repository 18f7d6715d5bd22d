import { readdirSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
const declared = /^export (?:declare |async |abstract )*(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm
const listed = /^export (?:type )?\{([^}]*)\}(?! from)/gm
const specifier = /(?:from|import)\s*\(?\s*'(\.[^']+)'|['"`/](dist\/[\w./-]+)\.js/g

/** `file name` of each export in `folders` that no other file imports, in `folders` or in `users`. */
export function unusedExports(folders: readonly string[], users: readonly string[]): string[] {
  const texts = new Map([...folders, ...users].flatMap(sourcesBelow).map((file) => [file, read(file)]))
  const importers = new Map<string, Set<string>[]>()
  for (const [file, text] of texts) {
    const words = new Set(text.match(/\w+/g))
    for (const target of targetsOf(file, text)) {
      if (target !== file) importers.set(target, [...(importers.get(target) ?? []), words])
    }
  }
  return [...texts]
    .filter(([file]) => folders.some((folder) => file.startsWith(`${folder}/`)))
    .flatMap(([file, text]) => {
      const words = importers.get(file) ?? []
      const unused = exportsOf(text).filter((name) => !words.some((known) => known.has(name)))
      return unused.map((name) => `${file} ${name}`)
    })
}

const read = (file: string): string => readFileSync(resolve(root, file), 'utf8')

/** A folder's files, or the file itself. */
function sourcesBelow(path: string): string[] {
  if (path.endsWith('.ts')) return [path]
  const files = readdirSync(resolve(root, path), { recursive: true, encoding: 'utf8' })
  return files
    .filter((file) => /\.m?[tj]s$/.test(file) && !file.includes('node_modules'))
    .map((file) => `${path}/${file}`)
}

/** Returns the imports of a file. A program that imports from `dist` uses the source that was built to it. */
function targetsOf(file: string, text: string): Set<string> {
  const found = [...text.matchAll(specifier)].map(([, local, built]) =>
    local ? relative(root, resolve(root, dirname(file), local)) : `${built}.ts`.replace('dist/', 'src/'),
  )
  return new Set(found)
}

function exportsOf(text: string): string[] {
  const inLists = [...text.matchAll(listed)].flatMap(([, names]) => names!.split(','))
  const renamed = inLists.map(
    (name) =>
      name
        .trim()
        .replace(/^type /, '')
        .split(' as ')
        .at(-1)!,
  )
  return [...[...text.matchAll(declared)].map(([, name]) => name!), ...renamed.filter(Boolean)]
}
