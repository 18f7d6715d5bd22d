import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { dataDirectory } from '../support/data-directory.ts'
import { atFileEnd } from '../support/ends.ts'
import { freshBuild } from '../support/fresh-build.ts'

const root = resolve(import.meta.dirname, '../..')
const bin = (name: string) => join(root, 'node_modules/.bin', name)
let folder = ''
/** The packed tarball as npm unpacks it: node_modules/rouse of an empty folder. */
let installed = ''

// Of the sources of now: a build that is there may be older.
beforeAll(() => {
  const directory = dataDirectory()
  atFileEnd(() => directory[Symbol.dispose]())
  folder = directory.path
  const checkout = join(folder, 'checkout')
  mkdirSync(checkout)
  const listed = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).files as string[]
  const places = ['package.json', 'README.md', 'LICENSE', ...listed.filter((place) => !place.startsWith('dist/'))]
  execFileSync('cp', ['-r', '--parents', ...places.filter((place) => existsSync(join(root, place))), checkout], {
    cwd: root,
  })
  const outDir = join(checkout, 'dist')
  if (freshBuild()) cpSync(join(root, 'dist'), outDir, { recursive: true })
  else execFileSync(bin('tsc'), ['-p', join(root, 'tsconfig.build.json'), '--outDir', outDir])
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], { cwd: checkout })
  execFileSync('tar', ['xzf', join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz'))!)], {
    cwd: folder,
  })
  rmSync(checkout, { recursive: true })
  installed = join(folder, 'node_modules/rouse')
  mkdirSync(dirname(installed))
  renameSync(join(folder, 'package'), installed)
})

const files = () => readdirSync(installed, { recursive: true, encoding: 'utf8' })

test('the tarball holds every file that its documents link to', () => {
  const missing: string[] = []
  for (const file of files().filter((name) => name.endsWith('.md'))) {
    const text = readFileSync(join(installed, file), 'utf8')
    for (const [, target = ''] of text.matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)) {
      if (!existsSync(resolve(installed, dirname(file), target))) missing.push(`${file} -> ${target}`)
    }
  }
  expect(files()).toContain('docs/operations.md')
  expect(missing).toEqual([])
})

test('nothing in it is dead: no source maps, no tests, no secrets, no types that nothing exports', () => {
  expect(
    files().filter((name) =>
      /\.map$|\.tsbuildinfo$|^(src|test|bench|node_modules)\/|^deploy\/secrets|\.key$|\.env$/.test(name),
    ),
  ).toEqual([])
  const types = new Set(['dist/index.d.ts'])
  for (const file of types) {
    const text = readFileSync(join(installed, file), 'utf8')
    for (const [, place = ''] of text.matchAll(/(?:from |import\()['"](\.[^'"]+)\.[jt]s['"]/g)) {
      types.add(join(dirname(file), `${place}.d.ts`))
    }
  }
  expect(files().filter((name) => name.endsWith('.d.ts') && !types.has(name))).toEqual([])
})

test.runIf(freshBuild() && existsSync(join(root, 'dist/commit')))('its version names the commit of its build', () => {
  expect(readFileSync(join(installed, 'dist/commit'), 'utf8')).toMatch(/^[\da-f]{8}\n$/)
})

test('package.json says what it is, names no address that does not exist, and its entries are there', () => {
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  expect(manifest).toMatchObject({ name: 'rouse', license: 'Apache-2.0', type: 'module' })
  expect(manifest.keywords).toContain('a2a')
  for (const field of ['homepage', 'repository', 'bugs']) expect(manifest).not.toHaveProperty(field)
  const { types, import: entry } = manifest.exports['.']
  for (const place of [types, entry, manifest.bin.rouse]) expect(existsSync(join(installed, place)), place).toBe(true)
})

test.each([
  ['NodeNext', 'NodeNext'],
  ['ESNext', 'bundler'],
])(
  'a consumer compiles against it without skipLibCheck, at ES2022, without types of Node (%s)',
  (module, moduleResolution) => {
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
    writeFileSync(join(folder, 'consumer.ts'), readFileSync(join(import.meta.dirname, 'consumer.ts')))
    const compilerOptions = {
      target: 'ES2022',
      lib: ['ES2022'],
      module,
      moduleResolution,
      types: [],
      strict: true,
      skipLibCheck: false,
      noEmit: true,
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }))
    const compile = () => execFileSync(bin('tsc'), ['-p', folder], { encoding: 'utf8' })
    try {
      expect(compile()).toBe('')
    } catch (error) {
      throw new Error((error as { stdout?: string }).stdout || String(error))
    }
  },
)
