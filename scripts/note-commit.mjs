// Notes in `dist` the commit that was built: that of COMMIT, which an image is built with, or that of the clone in this folder. And that it
// is built: the compiler writes only what has changed.
import { execFileSync } from 'node:child_process'
import { existsSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const noted = `${root}dist/commit`
const commit = process.env.COMMIT || commitOfClone()

if (commit === undefined) rmSync(noted, { force: true })
else if (/^[\da-f]{7,64}$/.test(commit)) writeFileSync(noted, `${commit.slice(0, 8)}\n`)
else throw new Error('COMMIT: give the hash of a commit, in hex: git rev-parse HEAD')

utimesSync(`${root}dist/main.js`, new Date(), new Date())

/** undefined: this is no clone, or there is no git. A clone that this folder only lies in is another project's. */
function commitOfClone() {
  if (!existsSync(`${root}.git`)) return undefined
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim()
  } catch {
    return undefined
  }
}
