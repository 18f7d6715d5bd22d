#!/usr/bin/env node
// Writes the library of the page as one file, from the package that the lock file names.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const exported = `export { html, svg, nothing, render } from 'lit-html'
export { repeat } from 'lit-html/directives/repeat.js'
export { live } from 'lit-html/directives/live.js'
export { keyed } from 'lit-html/directives/keyed.js'
export { ref } from 'lit-html/directives/ref.js'`

/** Returns the text of page/vendor/lit.js. */
export async function vendored() {
  const { outputFiles } = await build({
    stdin: { contents: exported, resolveDir: fileURLToPath(new URL('..', import.meta.url)) },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    conditions: ['browser', 'production'],
    legalComments: 'inline',
    write: false,
  })
  return outputFiles[0].text
}

const place = fileURLToPath(new URL('../page/vendor/lit.js', import.meta.url))
if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(place, await vendored())
