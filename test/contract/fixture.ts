import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** One folder of `fixtures/`: where it is, what it shows in a sentence, and how its files come about. */
export interface FixtureCase {
  /** Below `fixtures/`, e.g. `wakes/sent-to-me`. */
  readonly folder: string
  readonly shows: string
  readonly render: () => Promise<Files> | Files
  /** The only engine on which it comes about; absent: each. */
  readonly engine?: 'sqlite'
}

/** A folder's files by name, byte for byte. */
export type Files = Record<string, string>

export const fixturesRoot = fileURLToPath(new URL('../../fixtures/', import.meta.url))

/** Everything that the folder of a case holds: what was rendered, and the sentence. */
export async function renderCase({ shows, render }: FixtureCase): Promise<Files> {
  return { ...(await render()), 'README.md': `${shows}\n` }
}

export function readFolder(folder: string): Files {
  const path = join(fixturesRoot, folder)
  const names = readdirSync(path).sort()
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(path, name), 'utf8')]))
}

/** The folders that hold files, however deep, without the root. */
export function listFolders(): string[] {
  const entries = readdirSync(fixturesRoot, { recursive: true, withFileTypes: true })
  const folders = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, '/'))
  return [...new Set(folders.map((path) => path.slice(fixturesRoot.length).replace(/\/$/, '')))].filter(Boolean).sort()
}

/** JSON for people and `diff`; a body that has to be exact is written as it is sent. */
export function pretty(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
