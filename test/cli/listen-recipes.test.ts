import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { start } from './terminal.ts'

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
const recipes = [...readme.matchAll(/^npx rouse listen --exec '([^']+)'/gm)].map(([, command]) => command!)

/** A directory with a program of this name, which writes down its arguments, one a line. */
function standIn(name: string): { readonly path: string; arguments(): string[] } {
  const directory = mkdtempSync(join(tmpdir(), 'rouse-recipe-'))
  const program = join(directory, name)
  const file = join(directory, 'arguments')
  writeFileSync(
    program,
    `#!/bin/sh\nfor one in "$@"; do printf '%s\\n' "$one"; done > ${file}.new\nmv ${file}.new ${file}\n`,
  )
  chmodSync(program, 0o755)
  return {
    path: directory,
    arguments() {
      try {
        return readFileSync(file, 'utf8').trimEnd().split('\n')
      } catch {
        return []
      }
    },
  }
}

test('the recipes of the README are for three harnesses', () => {
  expect(recipes.map((recipe) => recipe.split(' ')[0])).toEqual(['claude', 'codex', 'opencode'])
})

test.each(recipes)('%s gives the harness the text as one argument, whatever is in it', async (recipe) => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const program = standIn(recipe.split(' ')[0]!)
  const env = { PATH: `${program.path}:${process.env.PATH}`, ROUSE_URL: gateway.url, ROUSE_KEY: donna.key }
  const terminal = start(['listen', '--exec', recipe], env)
  await terminal.until(/Listening to/)
  await gateway.send('donna', 'Review $(id) `id` "PR 7"; exit 1')
  const given = await until(
    () => program.arguments(),
    ({ length }) => length > 0,
  )
  expect(given.at(-1)).toBe('Review $(id) `id` "PR 7"; exit 1')
  terminal.interrupt()
  await terminal.code
})

test('the example script takes a task, completes it, and answers mail', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const main = new URL('../../dist/main.js', import.meta.url).pathname
  const script = new URL('../../examples/on-wake.sh', import.meta.url).pathname
  const env = {
    PATH: process.env.PATH,
    ROUSE_URL: gateway.url,
    ROUSE_KEY: donna.key,
    ROUSE_COMMAND: `${process.execPath} ${main}`,
  }
  const terminal = start(['listen', '--exec', script], env)
  await terminal.until(/Listening to/)
  const task = await gateway.send('donna', 'count these four words')
  const done = await until(
    async () => (await gateway.call('GET', `/v1/tasks/${task.id}`)).body,
    ({ state }) => state === 'completed',
  )
  expect(done.artifacts).toMatchObject([{ parts: [{ text: '4 words' }] }])
  const { body: sent } = await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Lunch?' })
  const thread = await until(
    async () => (await gateway.call('GET', `/v1/threads/${sent.messageId}`)).body,
    ({ messages }) => messages.length === 2,
  )
  expect(thread.messages[1].subject).toContain('Lunch?')
  terminal.interrupt()
  await terminal.code
}, 60_000)
