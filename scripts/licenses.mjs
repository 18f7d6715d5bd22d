#!/usr/bin/env node
// Prints the licence of every locked package, and fails where one is not allowed.   node scripts/licenses.mjs [--tools] [<lock file>]
// --tools: nothing of this lock file is shipped. npm run licenses does this for every lock file of the repository.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Licences that may be shipped with an Apache-2.0 program, without a duty beyond the notice. MPL-2.0 has one for changed files: packages are shipped
 * as they are, with their source.
 */
const shipped = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT', 'MPL-2.0']
/** Licences of tools to build and test, beside those. */
const tools = [...shipped, 'Python-2.0', 'Unlicense']
/** Packages whose manifest names no licence, and the one of their LICENSE file. */
const ofFile = { '@a2a-js/sdk@0.2.5': 'Apache-2.0', '@a2a-js/sdk@0.3.0': 'Apache-2.0' }

const argv = process.argv.slice(2)
const areTools = argv[0] === '--tools'
const path = argv[areTools ? 1 : 0] ?? fileURLToPath(new URL('../package-lock.json', import.meta.url))
const { packages } = JSON.parse(readFileSync(path, 'utf8'))
const rows = Object.entries(packages)
  .filter(([place]) => place !== '')
  .map(([place, { name = nameAt(place), version, license: named, dev, devOptional }]) => {
    const license = named ?? ofFile[`${name}@${version}`] ?? 'none'
    const isTool = areTools || Boolean(dev || devOptional)
    const isAllowed = allows(isTool ? tools : shipped, license)
    return {
      name,
      version,
      license,
      use: isTool ? 'tool' : 'shipped',
      isAllowed,
    }
  })
  .sort((a, b) => `${a.use} ${a.license} ${a.name}`.localeCompare(`${b.use} ${b.license} ${b.name}`))

for (const { use, license, name, version } of rows)
  process.stdout.write(`${[use, license, `${name}@${version}`].join('\t')}\n`)
const wrong = rows.filter(({ isAllowed }) => !isAllowed)
for (const { name, version, license, use } of wrong)
  process.stderr.write(`${name}@${version} (${use}): ${license} is not allowed.\n`)
process.stderr.write(
  `${rows.length} packages, ${rows.filter(({ use }) => use === 'shipped').length} of them shipped.\n`,
)
process.exitCode = wrong.length === 0 ? 0 : 1

function nameAt(place) {
  return place.replace(/^.*node_modules\//, '')
}

/** An SPDX expression of one level: one side of an OR is enough, all sides of an AND are needed. */
function allows(list, expression) {
  const isOne = (part) => list.includes(part.trim())
  return expression
    .replace(/[()]/g, '')
    .split(/\sOR\s/)
    .some((choice) => choice.split(/\sAND\s/).every(isOne))
}
