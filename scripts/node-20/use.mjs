#!/usr/bin/env node
// Gives a checkout on Node 20 the better-sqlite3 that runs there: the one of the main lock file ends the process. From Node 22 on it does nothing.
import { execFileSync, spawnSync } from 'node:child_process'
import { rmSync, symlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const opens = "require('./node_modules/better-sqlite3')(':memory:')"

if (Number.parseInt(process.versions.node, 10) < 22) {
  // A `npm ci` of the checkout before this one may have left it.
  const options = { cwd: here, stdio: 'inherit', shell: process.platform === 'win32' }
  if (spawnSync(process.execPath, ['-e', opens], { cwd: here }).status !== 0)
    execFileSync('npm', ['ci', '--global=false', '--no-audit', '--no-fund'], options)
  const used = fileURLToPath(new URL('../../node_modules/better-sqlite3', import.meta.url))
  rmSync(used, { recursive: true, force: true })
  symlinkSync(`${here}node_modules/better-sqlite3`, used, 'junction')
}
