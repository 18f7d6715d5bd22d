import { symlinkSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildSync } from 'esbuild'
import { dataDirectory } from '../support/data-directory.ts'
import { atFileEnd } from '../support/ends.ts'

const root = resolve(import.meta.dirname, '../..')

/** Makes one file of a program of the tests: it starts at a third of the cost of its sources. Returns its path. */
export function bundled(program: string): string {
  const directory = dataDirectory()
  atFileEnd(() => directory[Symbol.dispose]())
  symlinkSync(join(root, 'node_modules'), join(directory.path, 'node_modules'))
  const outfile = join(directory.path, `${basename(program, '.ts')}.mjs`)
  buildSync({
    entryPoints: [program],
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    packages: 'external',
    // The only file that a bridge without real harnesses looks for is package.json.
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(join(root, 'src/lib/version.ts')).href) },
    outfile,
  })
  return outfile
}
