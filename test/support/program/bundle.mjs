// Makes of a build what starts at half its cost: one file, and what V8 has compiled of it. `node bundle.mjs <build> <directory>`.
import { spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const [main, directory, ...flags] = process.argv.slice(2)
const built = dirname(main)
const { resolve: place } = createRequire(main)
const demoMaxMs = 60_000
const bundle = join(directory, 'bundle.cjs')

await build({
  stdin: {
    contents: 'import { run } from "./cli/run/run.js"; run(process.argv)',
    resolveDir: built,
  },
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  // The script of a function that V8 compiles has no module to import another one for.
  supported: { 'dynamic-import': false },
  minifyWhitespace: true,
  keepNames: true,
  legalComments: 'none',
  outfile: bundle,
  plugins: [{ name: 'places', setup: keepPlaces }],
  logLevel: 'warning',
})
// esbuild escapes what strings have besides ASCII, but not what regular expressions have.
writeFileSync(bundle, readFileSync(bundle, 'utf8').replaceAll(/[^\0-\x7f]/g, escaped))
copyFileSync(resolve(import.meta.dirname, 'start.cjs'), join(directory, 'start.cjs'))

// The demo is a gateway, its clients and a task: most of what any command runs.
const demo = spawnSync(process.execPath, [...flags, join(directory, 'start.cjs'), 'demo', '--exit', '--port', '0'], {
  env: { PATH: process.env.PATH, TMPDIR: directory, ROUSE_KEEP_COMPILED: '1' },
  cwd: directory,
  encoding: 'utf8',
  timeout: demoMaxMs,
})
if (demo.status !== 0) throw new Error(`The demo failed with ${demo.status ?? demo.signal}: ${demo.stderr}`)

function escaped(unit) {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Code finds its files where the build has them. Libraries with native code, or in a form that hides what they load, stay where they are. */
function keepPlaces(bundler) {
  bundler.onResolve({ filter: /^(better-sqlite3|jsonc-parser)$/ }, ({ path }) => ({
    path: place(path),
    external: true,
  }))
  bundler.onResolve({ filter: /^pg-native$/ }, ({ path }) => ({ path, external: true }))
  bundler.onLoad({ filter: /\.js$/ }, ({ path }) => {
    if (!path.startsWith(built) || path.includes('node_modules')) return undefined
    const own = JSON.stringify(pathToFileURL(path).href)
    return { contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', own) }
  })
}
