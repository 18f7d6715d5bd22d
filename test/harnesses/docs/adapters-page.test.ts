import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { dataDirectory } from '../../support/data-directory.ts'
import { pagePath, renderPage } from './page.ts'

const root = resolve(import.meta.dirname, '../../..')

test('docs/adapters.md has the adapters of the code', async () => {
  expect(readFileSync(pagePath, 'utf8'), 'Run `npm run adapters:docs`.').toBe(await renderPage())
})

test('the adapter of the documentation compiles', () => {
  const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(readFileSync(pagePath, 'utf8')) ?? []
  expect(code.length).toBeGreaterThan(2_000)
  // One with a step that there is not, so that silence means something.
  const { right, wrong } = complaintsAbout({ right: code, wrong: code.replaceAll("'turn_started'", "'turned'") })
  expect(right).toEqual([])
  expect(wrong![0]).toContain('is not assignable to type')
})

/** Returns the faults that the compiler finds in adapters in their places, by their names. */
function complaintsAbout(adapters: Readonly<Record<string, string>>): Record<string, string[]> {
  using scratch = dataDirectory()
  const directory = join(scratch.path, 'src/harnesses/example/adapter')
  mkdirSync(directory, { recursive: true })
  for (const [name, code] of Object.entries(adapters)) writeFileSync(join(directory, `${name}.ts`), code)
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: true,
      rewriteRelativeImportExtensions: false,
      rootDirs: [join(root, 'src'), join(scratch.path, 'src')],
      typeRoots: [join(root, 'node_modules/@types')],
      types: ['node'],
    },
    include: [directory],
  }
  writeFileSync(join(scratch.path, 'package.json'), '{"type":"module"}')
  writeFileSync(join(scratch.path, 'tsconfig.json'), JSON.stringify(config))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', scratch.path, '--checkers', '1'], {
    encoding: 'utf8',
    timeout: 60_000,
  })
  const complaints = stdout.split('\n').filter((line) => line.includes('error TS'))
  return Object.fromEntries(
    Object.keys(adapters).map((name) => [name, complaints.filter((line) => line.includes(`/${name}.ts(`))]),
  )
}
