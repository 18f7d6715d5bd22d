import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

/** The build's entry; undefined when there is none, or one that is older than the sources. */
export function freshBuild(): string | undefined {
  const built = join(root, 'dist/main.js')
  const isFresh = existsSync(built) && statSync(built).mtimeMs >= newestChange(join(root, 'src'))
  return isFresh ? built : undefined
}

function newestChange(directory: string): number {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Math.max(...files.map((file) => statSync(join(file.parentPath, file.name)).mtimeMs))
}
