import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assembleArtifacts, type Chunk } from '../../src/tasks/artifact.ts'
import type { A2aArtifact } from '../../src/tasks/task.ts'
import { startGateway } from '../support/gateway.ts'

const start = async () => {
  const gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const task = await gateway.send('donna', 'write', { key: mike.key })
  const add = (body: object, agent = donna) => gateway.call('POST', `/v1/tasks/${task.id}/artifacts`, body, agent)
  const read = async () => (await gateway.call('GET', `/v1/tasks/${task.id}`, undefined, mike)).body
  return { gateway, donna, mike, task, add, read, [Symbol.asyncDispose]: gateway[Symbol.asyncDispose] }
}
const piece = (text: string, artifactId = 'report') => ({ artifactId, parts: [{ text }] })

test('pieces are appended, a piece without append replaces, and neither changes the version', async () => {
  await using s = await start()
  const first = await s.add({ artifact: { ...piece('a'), name: 'report.md' }, lastChunk: false })
  expect(first.status).toBe(201)
  expect(first.body).toMatchObject({ artifactId: 'report', version: 1, state: 'submitted' })
  expect((await s.add({ artifact: piece('b'), append: true })).headers.get('etag')).toBe('"1"')
  expect((await s.read()).artifacts).toEqual([
    { artifactId: 'report', name: 'report.md', parts: [{ text: 'a' }, { text: 'b' }] },
  ])
  await s.add({ artifact: piece('other', 'notes') })
  await s.add({ artifact: piece('new') })
  expect(await s.read()).toMatchObject({
    version: 1,
    artifacts: [
      { artifactId: 'report', parts: [{ text: 'new' }] },
      { artifactId: 'notes', parts: [{ text: 'other' }] },
    ],
  })
})

test('a large task reads like a small one, alone and in a list', async () => {
  await using s = await start()
  const large = 'é'.repeat(300_000)
  const send = (text: string) => s.gateway.send('donna', text, { key: s.mike.key, message: { taskId: s.task.id } })
  await s.add({ artifact: piece('old'), lastChunk: false })
  await s.add({ artifact: { ...piece(large, 'notes'), name: 'notes.md' } })
  // It keeps its place, although nothing is left of its first piece.
  await s.add({ artifact: piece(large) })
  await s.add({ artifact: piece('b'), append: true })
  await send(large)
  await send('the last word')
  const task = await s.read()
  expect(task.artifacts).toEqual([
    { artifactId: 'report', parts: [{ text: large }, { text: 'b' }] },
    { artifactId: 'notes', name: 'notes.md', parts: [{ text: large }] },
  ])
  const texts = task.history.map(({ parts }: A2aArtifact) => parts[0]!.text)
  expect(texts).toEqual(['write', large, 'the last word'])
  expect(task.omitted).toBe(undefined)
  const other = await s.gateway.send('donna', 'something small', { key: s.mike.key })
  const list = await s.gateway.call('GET', '/v1/tasks?role=originator&includeArtifacts=true', undefined, s.mike)
  expect(list.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(list.body.tasks).toHaveLength(2)
  expect(list.body.tasks.find(({ id }: { id: string }) => id === s.task.id)).toEqual(task)
  expect(list.body.tasks.find(({ id }: { id: string }) => id === other.id).artifacts).toEqual([])
  const short = await s.gateway.call('GET', `/v1/tasks/${s.task.id}?historyLength=1`, undefined, s.mike)
  expect(short.body.history).toEqual(task.history.slice(-1))
})

test('an artifact without an id gets one, and a hundred concurrent pieces are all stored', async () => {
  await using s = await start()
  const { artifactId } = (await s.add({ artifact: { parts: [{ text: '0' }] } })).body
  expect(artifactId).toMatch(/^[0-9a-f-]{36}$/)
  const pieces = Array.from({ length: 99 }, (_, i) => piece(`${i + 1}`, artifactId))
  await Promise.all(pieces.map((artifact) => s.add({ artifact, append: true })))
  const [artifact] = (await s.read()).artifacts
  const numbers = artifact.parts.map(({ text }: { text: string }) => Number(text))
  expect(numbers.sort((a: number, b: number) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i))
})

test('an invalid artifact is refused, and nothing of it is stored', async () => {
  await using s = await start()
  expect((await s.add({ artifact: piece('x', 'unknown'), append: true })).body).toMatchObject({
    status: 400,
    field: 'artifact.artifactId',
  })
  expect((await s.add({ artifact: piece('x') }, s.mike)).body).toMatchObject({ status: 403, code: 'forbidden' })
  expect((await s.add({ artifact: { parts: [] } })).body).toMatchObject({ status: 400, field: 'artifact.parts' })
  expect((await s.add({ artifact: { parts: [{ note: 1 }] } })).body.field).toBe('artifact.parts[0]')
  expect((await s.add({ artifact: piece('x'), expectedVersion: 9 })).body).toMatchObject({
    status: 409,
    code: 'version-conflict',
    current: { version: 1 },
  })
  await s.gateway.move(s.donna, s.task.id, 'completed')
  expect((await s.add({ artifact: piece('late') })).body).toMatchObject({ status: 409, code: 'task-finished' })
  expect((await s.read()).artifacts).toEqual([])
})

test('a refused move stores none of its artifacts', async () => {
  await using s = await start()
  const artifacts = [piece('kept?')]
  const refused = await s.gateway.call(
    'POST',
    `/v1/tasks/${s.task.id}/transitions`,
    { to: 'canceled', expectedVersion: 1, artifacts },
    s.donna,
  )
  expect(refused.status).toBe(403)
  expect((await s.read()).artifacts).toEqual([])
})

test('chunks put together are their parts since the last start, in the order of first appearance', () => {
  const chunk = fc.record({
    artifactId: fc.constantFrom('a', 'b', 'c'),
    append: fc.boolean(),
    lastChunk: fc.boolean(),
    text: fc.string({ maxLength: 3 }),
  })
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 30 }), (pieces) => {
      const chunks = pieces.map(
        ({ artifactId, append, lastChunk, text }): Chunk => ({
          artifactId,
          append,
          lastChunk,
          artifact: { artifactId, parts: [{ text }] } as A2aArtifact,
        }),
      )
      const whole = assembleArtifacts(chunks)
      expect(whole.map(({ artifactId }) => artifactId)).toEqual([...new Set(pieces.map((one) => one.artifactId))])
      for (const artifact of whole) {
        const own = pieces.filter((one) => one.artifactId === artifact.artifactId)
        const started = own.findLastIndex((one) => !one.append)
        expect(artifact.parts).toEqual(own.slice(Math.max(0, started)).map(({ text }) => ({ text })))
      }
    }),
  )
})
