import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dataDirectory } from '../../support/data-directory.ts'
import { startGateway } from '../../support/gateway.ts'
import { run } from '../terminal.ts'

const diff = 'diff --git a b\n+one\n'

test('send, mail, reply and task move take their text from standard input and from files', async () => {
  await using gateway = await startGateway()
  using directory = dataDirectory()
  const file = join(directory.path, 'text')
  writeFileSync(file, diff)
  const donna = await gateway.addAgent('donna')
  const admin = { ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey }
  const env = { ...admin, ROUSE_KEY: donna.key }
  const piped = { stdin: () => diff }
  const json = async (argv: string[], who = admin, world: object = piped) => {
    const { code, stdout, stderr } = await run([...argv, '--json'], who, world)
    expect(code, stderr).toBe(0)
    return JSON.parse(stdout)
  }
  const text = 'diff --git a b\n+one'
  const { task } = await json(['send', 'donna', '-'])
  expect(task.history[0].parts).toEqual([{ text }])
  expect((await json(['send', 'donna', '--file', file], admin, {})).task.history[0].parts).toEqual([{ text }])
  const bodyOf = async (id: string) => (await gateway.call('GET', `/v1/messages/${id}`)).body.body
  const mail = await json(['mail', 'donna', '-', '--subject', 'A diff'])
  expect(await bodyOf(mail.messageId)).toBe(text)
  expect(await bodyOf((await json(['mail', 'donna', '--file', file], admin, {})).messageId)).toBe(text)
  expect(await bodyOf((await json(['reply', mail.messageId, '-'], env)).messageId)).toBe(text)
  expect(await bodyOf((await json(['reply', mail.messageId, '--file', '-'], env)).messageId)).toBe(text)
  await json(['task', 'move', task.id, 'working', '--file', file], env, {})
  const done = await json(['task', 'move', task.id, 'completed', '--message', '-', '--artifact-file', file], env)
  expect(done.status.message.parts).toEqual([{ text }])
  expect(done.artifacts[0].parts).toEqual([{ text }])
})

test.each<[string, string[], string, Buffer | string | undefined]>([
  ['an empty standard input', ['send', 'donna', '-'], 'Standard input is empty', undefined],
  ['two sources', ['mail', 'donna', 'x', '--file', 'FILE'], 'not both', 'text'],
  ['no text', ['send', 'donna'], 'or --file <file>', undefined],
  ['an empty file', ['send', 'donna', '--file', 'FILE'], 'The text is empty', ' \n'],
  ['a file that is not there', ['mail', 'donna', '--file', 'FILE'], 'cannot be read (ENOENT)', undefined],
  ['a file that is no text', ['mail', 'donna', '--file', 'FILE'], 'is not text in UTF-8', Buffer.from([0xff, 0xfe])],
  ['a file that no gateway takes', ['send', 'donna', '--file', 'FILE'], '16 MiB', Buffer.alloc(2 ** 24 + 1, 'x')],
  ['no content of an artifact', ['task', 'artifact', 't1'], '--text or --file', undefined],
])('%s is a usage error', async (_what, argv, message, content) => {
  using directory = dataDirectory()
  const file = join(directory.path, 'text')
  if (content !== undefined) writeFileSync(file, content)
  const { code, stderr } = await run(argv.map((word) => (word === 'FILE' ? file : word)))
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
})
