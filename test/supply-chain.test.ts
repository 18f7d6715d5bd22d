import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dataDirectory } from './support/data-directory.ts'

interface Locked {
  /** Of a package that is installed under another name. */
  readonly name?: string
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly license?: string
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly hasInstallScript?: boolean
}

interface Manifest {
  readonly version?: string
  readonly scripts?: object
  readonly allowScripts: Readonly<Record<string, boolean>>
}

const root = resolve(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const json = (path: string) => JSON.parse(read(path))
const nameOf = (place: string) => place.replace(/^.*node_modules\//, '')

/** The packages of this repository: what is shipped, the measurements with their peers, and the SQLite of Node 20. */
const projects = ['.', 'bench', 'scripts/node-20'].map((folder) => {
  const lock = json(`${folder}/package-lock.json`)
  const packages = (Object.entries(lock.packages) as [string, Locked][]).filter(([place]) => place !== '')
  return { folder, manifest: json(`${folder}/package.json`) as Manifest & Record<string, object>, lock, packages }
})
const [{ manifest, packages }] = projects as [(typeof projects)[0]]

test.each(projects)(
  'every package of $folder is locked to one content, and comes from the registry',
  ({ lock, packages }) => {
    expect(lock.lockfileVersion).toBe(3)
    expect(packages.length).toBeGreaterThan(30)
    for (const [place, { version, resolved, integrity, link }] of packages) {
      expect(place).toMatch(/^node_modules\//)
      expect(version, place).toMatch(/^\d+\.\d+\.\d+/)
      expect(integrity, place).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/)
      expect(link, place).toBeUndefined()
      // Left out, it is the registry that npm is set up for; a git address or a file would be written here.
      expect(resolved ?? 'https://registry.npmjs.org/', place).toMatch(/^https:\/\/registry\.npmjs\.org\//)
    }
  },
)

test.each(projects)('the lock of $folder is of its manifest', ({ lock, manifest }) => {
  for (const group of ['dependencies', 'devDependencies', 'engines']) {
    expect(lock.packages[''][group]).toEqual(manifest[group])
  }
})

test.each(projects)(
  'whether a package of $folder may run a script when it is installed is decided for each that has one',
  ({ manifest, packages }) => {
    const scripted = new Set(
      packages.filter(([, { hasInstallScript }]) => hasInstallScript).map(([place]) => nameOf(place)),
    )
    expect(Object.keys(manifest.allowScripts).sort()).toEqual([...scripted].sort())
  },
)

/** Packages that no import names, and their use. */
const namedElsewhere: Readonly<Record<string, string>> = {
  '@biomejs/biome': 'npm run lint',
  typescript: 'npm run build',
  'a2a-sdk-0.2.5': 'an old client, by its version',
  'a2a-sdk-0.3.0': 'an old client',
  'a2a-sdk-0.3.14': 'an old client',
  'a2a-sdk-1.0.1': 'an old client',
}

test('every dependency is imported, those that are shipped by the sources', () => {
  const imported = (...folders: string[]) => {
    const files = execFileSync('git', [
      'grep',
      '-hoE',
      String.raw`(from|import|import\(|require\(|resolve\() ?'[^.'][^']*'`,
      '--',
      ...folders,
    ])
    return new Set([...files.toString().matchAll(/'((?:@[^/']+\/)?[^/']+)/g)].map(([, name]) => name!))
  }
  const groups = manifest as unknown as Record<string, Readonly<Record<string, string>>>
  const unused = (names: readonly string[], used: Set<string>) =>
    names.filter(
      (name) => !used.has(name.replace(/^@types\//, '')) && name !== '@types/node' && !(name in namedElsewhere),
    )
  const { dependencies, optionalDependencies, devDependencies } = groups
  expect(unused(Object.keys({ ...dependencies, ...optionalDependencies }), imported('src'))).toEqual([])
  expect(unused(Object.keys(devDependencies!), imported('.'))).toEqual([])
})

// Without the field an npm before 11 runs node-gyp for it, which needs Python. `npm install` drops the field: put it back.
test('on Node 22 and newer better-sqlite3 is not compiled', () => {
  expect(Object.fromEntries(packages)['node_modules/better-sqlite3']).toMatchObject({ gypfile: false })
  expect(json('node_modules/better-sqlite3/package.json').version).toMatch(
    Number.parseInt(process.versions.node, 10) < 22 ? /^12\./ : /^13\./,
  )
})

test('the Node that the manifest asks for is the one that the documents name', () => {
  expect(manifest.engines).toEqual({ node: '>=20.19 <21 || >=22.14 <23 || >=23.6' })
  expect(read('README.md')).toContain('Requires Node 22.14 or later (20.19 works too)')
  expect(read('docs/install.md')).toMatch(
    /^Requires Node 22\.14 or later \(`node --version`; of Node 23, 23\.6 or later\)/m,
  )
})

describe.runIf(Number.parseInt(process.versions.node, 10) < 22)('SQLite for Node 20', () => {
  /** Runs the script in a checkout whose npm ends with that code. */
  function useIn(checkout: string, npmCode: number) {
    const folder = join(checkout, 'scripts/node-20')
    mkdirSync(join(folder, 'node_modules/better-sqlite3'), { recursive: true })
    mkdirSync(join(checkout, 'node_modules'))
    copyFileSync(join(root, 'scripts/node-20/use.mjs'), join(folder, 'use.mjs'))
    const npm = join(checkout, 'npm')
    writeFileSync(npm, `#!/bin/sh\nexit ${npmCode}\n`, { mode: 0o755 })
    const env = { ...process.env, PATH: `${checkout}:${process.env.PATH}` }
    return spawnSync(process.execPath, [join(folder, 'use.mjs')], { encoding: 'utf8', env })
  }

  test('is linked so that the checkout can be moved', () => {
    using directory = dataDirectory()
    expect(useIn(directory.path, 0)).toMatchObject({ status: 0, stderr: '' })
    const link = readlinkSync(join(directory.path, 'node_modules/better-sqlite3'))
    expect(link).toBe('../scripts/node-20/node_modules/better-sqlite3')
  })

  test('says in one line what it needs when it cannot be installed', () => {
    using directory = dataDirectory()
    const { status, stderr } = useIn(directory.path, 1)
    expect(status).toBe(1)
    expect(stderr).toMatch(/^SQLite for Node 20 could not be installed\. .*npm_config_nodedir=\/usr npm ci\..*\n$/)
  })
})

test('the script of protobufjs is not run', () => {
  // It looks at the versions of those who depend on it, and changes nothing.
  expect(manifest.allowScripts.protobufjs).toBe(false)
})

/** True when the installed npm has `--strict-allow-scripts`. An older npm would ignore the flag. */
const npmDecides =
  execFileSync('npm', ['config', 'get', 'strict-allow-scripts'], { encoding: 'utf8' }).trim() === 'false'
if (!npmDecides) console.warn('The installed npm does not check allowScripts: only the lock files are compared here.')

/** Returns the answer of `npm ci` to a manifest and a lock, before it installs anything. It asks nobody, and writes nothing. */
function preflight(folder: string, manifest: Manifest) {
  using directory = dataDirectory()
  copyFileSync(join(root, folder, 'package-lock.json'), join(directory.path, 'package-lock.json'))
  // The scripts of the project itself would be run.
  writeFileSync(join(directory.path, 'package.json'), JSON.stringify({ ...manifest, scripts: {} }))
  const argv = ['ci', '--dry-run', '--strict-allow-scripts', '--offline', '--no-audit', '--no-fund']
  const { status, stderr } = spawnSync('npm', argv, { cwd: directory.path, encoding: 'utf8' })
  return { status, stderr }
}

// The attack: a package that is on its way in brings a script that nobody has looked at.
test.runIf(npmDecides).each(projects)(
  'npm itself finds no undeclared install script in $folder, and refuses one',
  ({ folder, manifest }) => {
    expect(preflight(folder, manifest)).toMatchObject({ status: 0 })
    const name = Object.keys(manifest.allowScripts).findLast((one) => manifest.allowScripts[one])!
    const { [name]: _, ...others } = manifest.allowScripts
    const { status, stderr } = preflight(folder, { ...manifest, allowScripts: others })
    expect(status).not.toBe(0)
    expect(stderr).toContain('ESTRICTALLOWSCRIPTS')
    expect(stderr).toContain(`${name}@`)
  },
)

test('`npm run licenses` names every package, and fails for a licence that is not allowed', () => {
  const run = (...argv: string[]) =>
    spawnSync(process.execPath, [join(root, 'scripts/licenses.mjs'), ...argv], { encoding: 'utf8' })
  for (const { folder, packages } of projects) {
    const { status, stdout } = run(...(folder === 'bench' ? ['--tools'] : []), join(root, folder, 'package-lock.json'))
    expect([status, stdout.trim().split('\n').length]).toEqual([0, packages.length])
  }
  expect(manifest.scripts).toMatchObject({
    licenses: [
      'node scripts/licenses.mjs',
      'node scripts/licenses.mjs scripts/node-20/package-lock.json',
      'node scripts/licenses.mjs --tools bench/package-lock.json',
    ].join(' && '),
  })
  using directory = dataDirectory()
  const doctored = join(directory.path, 'lock.json')
  const named = (license: string, dev: boolean) => ({ version: '1.0.0', license, dev })
  const write = (entries: object) => writeFileSync(doctored, JSON.stringify({ packages: { '': {}, ...entries } }))
  write({
    'node_modules/a': named('GPL-3.0-only', false),
    'node_modules/b': named('Python-2.0', false),
    'node_modules/c': { version: '1.0.0' },
    'node_modules/d': named('MIT AND AGPL-3.0-only', true),
    'node_modules/e': named('Python-2.0', true),
    'node_modules/f': named('(AGPL-3.0-only OR MIT)', false),
  })
  const refused = run(doctored)
  expect(refused.status).toBe(1)
  expect(refused.stderr.match(/^\w@/gm)).toEqual(['a@', 'c@', 'b@', 'd@'])
  expect(run('--tools', doctored).stderr.match(/^\w@/gm)).toEqual(['a@', 'd@', 'c@'])
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
  for (const [place, { name = nameOf(place), version }] of packages) {
    expect(listed.get(`pkg:npm/${name}@${version}`)?.hashes, place).toHaveLength(1)
  }
})
