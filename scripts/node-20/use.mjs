#!/usr/bin/env node
// Gives a checkout on Node 20 the better-sqlite3 that runs there: the one of the main lock file ends the process. From Node 22 on it does nothing.
import { spawnSync } from 'node:child_process'
import { rmSync, symlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const opens = "require('./node_modules/better-sqlite3')(':memory:')"

if (Number.parseInt(process.versions.node, 10) < 22) {
  // A `npm ci` of the checkout before this one may have left it.
  const options = { cwd: here, stdio: 'inherit', shell: process.platform === 'win32' }
  const isThere = spawnSync(process.execPath, ['-e', opens], { cwd: here }).status === 0
  if (!isThere && spawnSync('npm', ['ci', '--global=false', '--no-audit', '--no-fund'], options).status !== 0) {
    console.error(
      'SQLite for Node 20 could not be installed. Without a way to GitHub it is compiled: that needs a C++ compiler, make and Python 3. Without a way to nodejs.org either, name where the headers of Node are: npm_config_nodedir=/usr npm ci. Or use Node 22.14 or newer.',
    )
    process.exit(1)
  }
  const used = fileURLToPath(new URL('../../node_modules/better-sqlite3', import.meta.url))
  rmSync(used, { recursive: true, force: true })
  // Relative: a checkout may be moved or copied.
  symlinkSync('../scripts/node-20/node_modules/better-sqlite3', used, 'junction')
}
