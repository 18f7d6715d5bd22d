import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { buildProgram } from '../../src/cli/run/run.ts'
import { withheldVariables } from '../../src/client/secret-input.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { startGateway } from '../support/gateway.ts'
import { problem, startStubGateway } from './stub-gateway.ts'
import { run } from './terminal.ts'

const root = resolve(import.meta.dirname, '../..')

/** Commands that show a secret to everybody who lists processes, or keep it in the shell's history. */
const shown = [
  /--key[ =](?!<)/,
  /ROUSE_(?:\w*_)?KEY=(?:rk_|whsec_|\$\()/,
  /(?:-H|--header)[\s=]+["'].*Bearer/,
  /--(?:database|bus)-url[ =]\S+:\S+@/,
]

const texts = ['README.md', ...files('docs'), ...files('examples'), ...files('deploy'), 'compose.yaml', 'Dockerfile']

function files(directory: string): string[] {
  const names = readdirSync(join(root, directory), { recursive: true, encoding: 'utf8' })
  return names.map((name) => join(directory, name)).filter((path) => /\.(md|mjs|yaml|conf|sh|example)$/.test(path))
}

test.each(texts)('%s shows no command with a secret in it', (path) => {
  const lines = readFileSync(join(root, path), 'utf8').split('\n')
  expect(lines.filter((line) => shown.some((pattern) => pattern.test(line)))).toEqual([])
})

test('no help text shows a secret or an option for one', async () => {
  const program = await buildProgram({ stdout() {}, stderr() {}, env: {} })
  const paths: string[][] = []
  const walk = (command: Command, path: string[]) => {
    paths.push(path)
    for (const child of command.commands) walk(child, [...path, child.name()])
  }
  walk(program, [])
  expect(paths.length).toBeGreaterThan(40)
  for (const path of paths) {
    const { stdout } = await run([...path, '--help'])
    expect(stdout.split('\n').filter((line) => shown.some((pattern) => pattern.test(line)))).toEqual([])
    expect(stdout).not.toMatch(/--key </)
  }
})

test('the key of a new agent can be written to a file', async () => {
  using directory = dataDirectory()
  await using gateway = await startGateway()
  const env = { ROUSE_KEY: gateway.adminKey, ROUSE_URL: gateway.url }
  const path = join(directory.path, 'donna.key')
  const added = await run(['agent', 'add', '@donna', '--save-key', path], env)
  expect(added.code, added.stderr).toBe(0)
  const key = readFileSync(path, 'utf8').trim()
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(added.stdout).not.toContain(key)
  expect((await gateway.call('GET', '/v1/tasks', undefined, { key })).status).toBe(200)

  const again = await run(['agent', 'key', 'add', '@donna', '--save-key', path, '--json'], env)
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('name another file')])
  expect(readFileSync(path, 'utf8').trim()).toBe(key)
  const second = join(directory.path, 'second.key')
  const { stdout } = await run(['agent', 'key', 'add', '@donna', '--save-key', second, '--json'], env)
  expect(JSON.parse(stdout)).toMatchObject({ keyFile: second, keyId: expect.any(String) })
  expect(stdout).not.toContain(readFileSync(second, 'utf8').trim())
})

test('a key that was not made leaves no file', async () => {
  using directory = dataDirectory()
  await using gateway = await startStubGateway({ 'POST /v1/agents': problem(409, 'agent-exists', 'Taken') })
  const path = join(directory.path, 'donna.key')
  expect(await run(['agent', 'add', '@donna', '--save-key', path], { ROUSE_URL: gateway.url })).toMatchObject({
    code: 1,
  })
  expect(readdirSync(directory.path)).toEqual([])
})

test('a key comes from a file or from standard input, or the option is a usage error', async () => {
  using directory = dataDirectory()
  const missing = await run(['who', '--key-file', join(directory.path, 'none')])
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('--key-file')])
  const empty = await run(['who', '--key-file', '-'], {}, { stdin: () => '' })
  expect([empty.code, empty.stderr]).toEqual([2, expect.stringContaining('standard input')])
})

test('a wake command gets no variable that contains a secret', () => {
  const read = execFileSync('grep', ['-rhoE', 'ROUSE_[A-Z_]*(KEY|URL|TOKEN|SECRET|PASSWORD|PROXY)\\b', 'src'], {
    cwd: root,
  })
  // The last one is a path.
  const harmless = ['ROUSE_URL', 'ROUSE_PUBLIC_URL', 'ROUSE_TLS_KEY']
  const found = new Set(
    String(read)
      .trim()
      .split('\n')
      .filter((name) => !harmless.includes(name)),
  )
  expect([...found].sort()).toEqual(withheldVariables.filter((name) => name.startsWith('ROUSE_')).sort())
})
