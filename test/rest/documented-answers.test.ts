import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openTable, restTable } from '../../src/fronts/rest/table.ts'
import { eventTypes } from '../../src/words/events.ts'
import { openNotes } from '../openapi/notes.ts'
import { startGateway } from '../support/gateway.ts'

const page = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8')

/** The names of the fields in the example that follows a sentence of docs/api.md. */
function namesAfter(sentence: string): Set<string> {
  const [, block = ''] = page.slice(page.indexOf(sentence)).split(/\n\n/)
  return new Set([...block.matchAll(/"(\w+)":/g)].map(([, name = '']) => name))
}

test('the examples of docs/api.md have the fields that a task and a message have', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const lucy = await gateway.addAgent('lucy')
  const { id } = await gateway.send('donna', 'hello', { key: lucy.key })
  const artifacts = [{ name: 'review', parts: [{ text: 'a' }] }]
  const { body: task } = await gateway.move(donna, id, 'completed', { message: 'Done.', artifacts })
  const mail = await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'a', body: 'b' }, lucy)
  const { body: message } = await gateway.call('GET', `/v1/messages/${mail.body.messageId}`, undefined, lucy)

  const ofTask = namesAfter('A task, in these answers')
  for (const part of [task, task.status, task.artifacts[0]]) expect(Object.keys(part)).toSatisfy(allIn(ofTask))
  const ofMessage = namesAfter('A message, as its sender reads it')
  for (const part of [message, message.recipients[0]]) expect(Object.keys(part)).toSatisfy(allIn(ofMessage))
})

const allIn = (names: Set<string>) => (fields: string[]) => fields.every((field) => names.has(field))

/** The routes that docs/api.md names: `GET|PATCH /v1/a · DELETE` has three, `GET /v1/a[/{id}]` two. */
function namedRoutes(): string[] {
  let path = ''
  return [...page.matchAll(/((?:GET|POST|PUT|PATCH|DELETE)(?:\|[A-Z]+)*)(?: +(\/[^\s?`]*))?/g)].flatMap(
    ([, methods, at]) => {
      path = at ?? path
      const paths = [path.replace(/\[.*\]/, ''), path.replace(/[[\]]/g, '')]
      return methods!.split('|').flatMap((method) => paths.map((one) => `${method} ${one}`))
    },
  )
}

test('docs/api.md names every route that programs call, and every type of event', () => {
  const open = openTable.routes.filter(({ route }) => openNotes[route as keyof typeof openNotes] !== null)
  const routes = [...restTable.routes, ...open].map(({ route }) => route.replace(/:(\w+)/g, '{$1}'))
  const named = namedRoutes()
  expect(routes.filter((route) => !named.includes(route))).toEqual([])
  expect(Object.keys(eventTypes).filter((type) => !page.includes(`\`${type}\``))).toEqual([])
})
