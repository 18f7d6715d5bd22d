import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { dataDirectory } from './support/data-directory.ts'

interface Locked {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly license?: string
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly hasInstallScript?: boolean
}

const root = resolve(import.meta.dirname, '..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
const packages = (Object.entries(lock.packages) as [string, Locked][]).filter(([place]) => place !== '')
const nameOf = (place: string) => place.replace(/^.*node_modules\//, '')

test('every package is locked to one content, and comes from the registry', () => {
  expect(lock.lockfileVersion).toBe(3)
  expect(packages.length).toBeGreaterThan(100)
  for (const [place, { version, resolved, integrity, link }] of packages) {
    expect(place).toMatch(/^node_modules\//)
    expect(version, place).toMatch(/^\d+\.\d+\.\d+/)
    expect(integrity, place).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/)
    expect(link, place).toBeUndefined()
    // Left out, it is the registry that npm is set up for; a git address or a file would be written here.
    expect(resolved ?? 'https://registry.npmjs.org/', place).toMatch(/^https:\/\/registry\.npmjs\.org\//)
  }
})

test('the lock is of this manifest', () => {
  for (const group of ['dependencies', 'devDependencies', 'engines']) {
    expect(lock.packages[''][group]).toEqual(manifest[group])
  }
})

test('whether a package may run a script when it is installed is decided for each that has one', () => {
  const scripted = new Set(
    packages.filter(([, { hasInstallScript }]) => hasInstallScript).map(([place]) => nameOf(place)),
  )
  expect(Object.keys(manifest.allowScripts).sort()).toEqual([...scripted].sort())
  // It looks at the versions of those who depend on it, and changes nothing.
  expect(manifest.allowScripts.protobufjs).toBe(false)
})

test('`npm run licenses` names every package, and fails for a licence that is not allowed', () => {
  const run = (...argv: string[]) =>
    spawnSync(process.execPath, [join(root, 'scripts/licenses.mjs'), ...argv], { encoding: 'utf8' })
  const { status, stdout } = run()
  expect([status, stdout.trim().split('\n').length]).toEqual([0, packages.length])
  using directory = dataDirectory()
  const doctored = join(directory.path, 'lock.json')
  const named = (license: string, dev: boolean) => ({ version: '1.0.0', license, dev })
  const write = (entries: object) => writeFileSync(doctored, JSON.stringify({ packages: { '': {}, ...entries } }))
  write({
    'node_modules/a': named('GPL-3.0-only', false),
    'node_modules/b': named('MPL-2.0', false),
    'node_modules/c': { version: '1.0.0' },
    'node_modules/d': named('MIT AND AGPL-3.0-only', true),
    'node_modules/e': named('MPL-2.0', true),
    'node_modules/f': named('(AGPL-3.0-only OR MIT)', false),
  })
  const refused = run(doctored)
  expect(refused.status).toBe(1)
  expect(refused.stderr.match(/^\w@/gm)).toEqual(['a@', 'b@', 'c@', 'd@'])
})

test('`npm run sbom` lists every package, with the hash of each', () => {
  const text = execFileSync('npm', ['run', '--silent', 'sbom'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const bom = JSON.parse(text)
  expect([bom.bomFormat, bom.metadata.component['bom-ref']]).toEqual(['CycloneDX', `rouse@${manifest.version}`])
  const listed = new Map<string, { hashes?: object[] }>(
    bom.components.map((component: { purl: string }) => [decodeURIComponent(component.purl), component]),
  )
  for (const [place, { version }] of packages) {
    expect(listed.get(`pkg:npm/${nameOf(place)}@${version}`)?.hashes, place).toHaveLength(1)
  }
})
