import { spawnSync } from 'node:child_process'
import { copyFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { dataDirectory } from '../../support/data-directory.ts'
import { startGateway } from '../../support/gateway.ts'
import { root } from '../document-path.ts'

test('a client that openapi-typescript makes of the document of a gateway compiles, sends mail and works on a task', async () => {
  // The compiler runs in this process, and takes the loop of the gateway for seconds.
  await using gateway = await startGateway({ overrides: { overload: { isOver: () => false } } })
  using directory = dataDirectory()
  const { path: folder } = directory
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  copyFileSync(join(import.meta.dirname, 'program.ts'), join(folder, 'program.ts'))
  writeFileSync(join(folder, 'api.d.ts'), await typesOf(folder, new URL('/openapi.json', gateway.url)))
  expect(compile(folder)).toBe('')

  await bundle({ entryPoints: [join(folder, 'program.ts')], outfile: join(folder, 'program.mjs') })
  const { sendMail, work } = await import(join(folder, 'program.mjs'))
  const donna = await gateway.addAgent('donna')
  await gateway.send('donna', 'please')
  const { key } = await gateway.addAgent('lola')
  expect(await sendMail(gateway.url, key)).toBe('@donna: sent')
  expect(await work(gateway.url, donna.key)).toEqual(['please', 'Hello', 'working', 'version-conflict'])
})

/** The types that openapi-typescript makes of a document. */
async function typesOf(folder: string, document: URL): Promise<string> {
  await bundle({
    stdin: { contents: "export { astToString, default as openapi } from 'openapi-typescript'", resolveDir: root },
    alias: { typescript: join(import.meta.dirname, 'typescript-api.ts') },
    external: ['ts-morph', '@redocly/openapi-core'],
    outfile: join(folder, 'generator.mjs'),
  })
  const { openapi, astToString } = await import(join(folder, 'generator.mjs'))
  return astToString(await openapi(document))
}

function bundle(options: Parameters<typeof build>[0]): Promise<unknown> {
  return build({ bundle: true, platform: 'node', format: 'esm', logLevel: 'silent', ...options })
}

/** The errors of the compiler. */
function compile(folder: string): string {
  const compilerOptions = { module: 'NodeNext', target: 'ES2022', lib: ['ES2022', 'DOM'], types: [], strict: true }
  const options = { ...compilerOptions, noEmit: true, allowImportingTsExtensions: true, skipLibCheck: false }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['program.ts'] }))
  return spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' }).stdout
}
