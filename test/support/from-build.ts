import { dirname, join, relative, resolve, sep } from 'node:path'
import type { Plugin } from 'vitest/config'
import { freshBuild } from './fresh-build.ts'

const root = resolve(import.meta.dirname, '../..')
const [sources, tests] = ['src', 'test'].map((folder) => join(root, folder) + sep) as [string, string]

/** The files of the build, for `server.deps.external`: Node loads them itself. */
export const built = /^(?!.*\/node_modules\/).*\/dist\/.+\.js$/

/**
 * Gives a test that imports a source by its relative path the same file of the build, if the build is not older than the sources. A
 * gateway from there costs a worker, and above all the server that compiles for it, less time. While Vitest watches, tests get the sources.
 */
export function fromBuild(): Plugin {
  let useBuild = false
  return {
    name: 'from-build',
    enforce: 'pre',
    configResolved(config) {
      useBuild = !config.test?.watch && freshBuild() !== undefined
    },
    resolveId(specifier, importer) {
      if (!useBuild || !specifier.startsWith('.') || !importer?.startsWith(tests)) return
      const path = resolve(dirname(importer), specifier)
      if (!path.startsWith(sources)) return
      return join(root, 'dist', relative(sources, path).replace(/\.ts$/, '.js'))
    },
  }
}
