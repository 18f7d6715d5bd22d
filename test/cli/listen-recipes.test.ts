import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { rouseWords } from '../support/program/rouse-words.ts'
import { until } from '../support/until.ts'
import { start } from './terminal.ts'

const firstSteps = readFileSync(new URL('../../docs/first-steps.md', import.meta.url), 'utf8')
const recipes = [...firstSteps.matchAll(/^npx rouse listen --exec '([^']+)'/gm)].map(([, command]) => command!)

/** A directory with a program of this name, which writes down its standard input, and its arguments before it. */
function standIn(name: string): { readonly path: string; called(): string } {
  const directory = mkdtempSync(join(tmpdir(), 'rouse-recipe-'))
  const file = join(directory, 'called')
  const script = `#!/bin/sh\n{ echo "$@"; cat; } > ${file}\necho 'Looks good.'\n`
  writeFileSync(join(directory, name), script, { mode: 0o755 })
  return { path: directory, called: () => readFileSync(file, 'utf8') }
}

/** The example script calls `rouse` of this build. */
const command = [process.execPath, ...rouseWords()].join(' ')

test('the recipes of the first steps are for three harnesses', () => {
  expect(recipes.map((recipe) => recipe.split(' ')[1])).toEqual(['claude', 'codex', 'opencode'])
})

test.each(recipes)(
  '%s gives the harness the text on standard input, whatever is in it, and completes the task with its answer',
  async (recipe) => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const program = standIn(recipe.split(' ')[1]!)
    const env = { PATH: `${program.path}:${process.env.PATH}`, ROUSE_URL: gateway.url, ROUSE_KEY: donna.key }
    const terminal = start(['listen', '--exec', recipe], { ...env, ROUSE_COMMAND: command })
    await terminal.until(/Listening to/)
    const { id } = await gateway.send('donna', 'Review $(id) `id` "PR 7"; exit 1')
    const task = await completed(gateway, id)
    expect(task.artifacts).toMatchObject([{ parts: [{ text: 'Looks good.' }] }])
    const [, ...words] = recipe.split(' ').slice(1)
    expect(program.called()).toBe(
      `${words.join(' ')}\nFrom "@operator", your user:\n\nReview $(id) \`id\` "PR 7"; exit 1`,
    )
    terminal.interrupt()
    await terminal.code
  },
)

const script = new URL('../../examples/on-wake.sh', import.meta.url).pathname

const environment = (gateway: TestGateway, { key }: TestAgent) => ({
  PATH: process.env.PATH,
  ROUSE_URL: gateway.url,
  ROUSE_KEY: key,
  ROUSE_COMMAND: command,
})

const completed = (gateway: TestGateway, id: string) =>
  until(
    async () => (await gateway.call('GET', `/v1/tasks/${id}`)).body,
    ({ state }) => state === 'completed',
  )

test('the example script takes a task, completes it, and answers mail', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const terminal = start(['listen', '--exec', script], environment(gateway, donna))
  await terminal.until(/Listening to/)
  const { id } = await gateway.send('donna', 'count these four words')
  expect((await completed(gateway, id)).artifacts).toMatchObject([{ parts: [{ text: '4 words' }] }])
  const { body: sent } = await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Lunch today?' })
  const thread = await until(
    async () => (await gateway.call('GET', `/v1/threads/${sent.messageId}`)).body,
    ({ messages }) => messages.length === 2,
  )
  expect(thread.messages[1]).toMatchObject({ body: '2 words', type: 'answer' })
  terminal.interrupt()
  await terminal.code
})

// D29
test('the example script takes what a digest had no room for, and answers neither answers nor the gateway', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.send('donna', 'the twenty-first task')
  const mail = { messageId: 'MESSAGE:1', taskId: null, subject: 'Never mind', body: null }
  const messages = [
    { ...mail, type: 'answer', from: '@operator' },
    { ...mail, type: 'msg', from: '@gateway' },
  ]
  const env = { ...environment(gateway, donna), ROUSE_EVENT_TYPE: 'wake/digest' }
  const child = spawn(script, { env, stdio: ['pipe', 'ignore', 'inherit'] })
  child.stdin.end(JSON.stringify({ messages, tasks: [] }))
  expect((await once(child, 'exit'))[0]).toBe(0)
  expect((await completed(gateway, id)).artifacts).toMatchObject([{ parts: [{ text: '3 words' }] }])
})

test('a text that makes the harness fail stops no other task of the example script, which says at its end that one failed', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const tasks = []
  for (const text of ['one', 'poison', 'two']) {
    const { id } = await gateway.send('donna', text)
    tasks.push((await gateway.call('GET', `/v1/tasks/${id}`)).body)
  }
  const env = { ...environment(gateway, donna), ROUSE_EVENT_TYPE: 'wake/digest' }
  const harness = 'in=$(cat); case "$in" in *poison*) exit 3;; esac; echo well'
  const child = spawn(script, ['sh', '-c', harness], { env, stdio: ['pipe', 'ignore', 'inherit'] })
  child.stdin.end(JSON.stringify({ messages: [], tasks }))
  expect((await once(child, 'exit'))[0]).toBe(3)
  const states = await Promise.all(
    tasks.map(async ({ id }) => (await gateway.call('GET', `/v1/tasks/${id}`)).body.state),
  )
  expect(states).toEqual(['completed', 'working', 'completed'])
})
