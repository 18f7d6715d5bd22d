import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { transformSync } from 'esbuild'
import { expect, test } from 'vitest'
import { dataDirectory } from '../support/data-directory.ts'

const root = resolve(import.meta.dirname, '../..')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** A folder with what a build of `src/lib/version.ts` needs. */
function buildIn(folder: string) {
  for (const place of ['dist/lib', 'scripts']) mkdirSync(join(folder, place), { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ version, type: 'module' }))
  cpSync(join(root, 'scripts/note-commit.mjs'), join(folder, 'scripts/note-commit.mjs'))
  writeFileSync(join(folder, 'dist/main.js'), '')
  const source = readFileSync(join(root, 'src/lib/version.ts'), 'utf8')
  writeFileSync(join(folder, 'dist/lib/version.js'), transformSync(source, { loader: 'ts' }).code)
  const node = (argv: string[], env: Record<string, string>) =>
    spawnSync(process.execPath, argv, { cwd: folder, env: { PATH: process.env.PATH, ...env }, encoding: 'utf8' })
  return {
    build: (env: Record<string, string> = {}) => node(['scripts/note-commit.mjs'], env),
    version: () =>
      node(
        ['--input-type=module', '-e', "console.log((await import('./dist/lib/version.js')).readVersion())"],
        {},
      ).stdout.trim(),
  }
}

/** Makes a folder a clone with one commit. Returns its hash. */
function commitIn(folder: string): string {
  const git = (...argv: string[]) =>
    execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@rouse.example', ...argv], { cwd: folder })
  git('init', '--quiet')
  git('commit', '--quiet', '--allow-empty', '-m', 'One')
  return git('rev-parse', 'HEAD').toString().trim()
}

test('a build of a clone shows its commit with the version', () => {
  using folder = dataDirectory()
  const built = buildIn(folder.path)
  const commit = commitIn(folder.path)
  expect(built.build().status).toBe(0)
  expect(built.version()).toBe(`${version}+${commit.slice(0, 8)}`)
})

test('a build where no clone is shows the commit that it was given, or the version alone', () => {
  using folder = dataDirectory()
  const built = buildIn(folder.path)
  built.build({ COMMIT: '1c4f6c1b0123456789abcdef0123456789abcdef' })
  expect(built.version()).toBe(`${version}+1c4f6c1b`)
  expect(built.build({ COMMIT: '' }).status).toBe(0)
  expect(built.version()).toBe(version)
  expect(built.build({ COMMIT: 'main' })).toMatchObject({ status: 1, stderr: expect.stringContaining('git rev-parse') })
})

test("a folder in another project's clone does not show that project's commit", () => {
  using outer = dataDirectory()
  commitIn(outer.path)
  const built = buildIn(join(outer.path, 'vendored'))
  built.build()
  expect(existsSync(join(outer.path, 'vendored/dist/commit'))).toBe(false)
  expect(built.version()).toBe(version)
})
