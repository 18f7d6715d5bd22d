import { connect } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import express, { type RequestHandler } from 'express'
import { expect, test } from 'vitest'
import { Admission } from '../../src/admission/admission.ts'
import { toProblem } from '../../src/errors.ts'
import { parseJson } from '../../src/fronts/http/json-body.ts'
import { fromExpress } from '../../src/fronts/http/problem.ts'
import { systemClock } from '../../src/lib/clock.ts'

const limit = 300
const context = { admission: new Admission({ clock: systemClock, bodyMax: limit }), bodyMax: limit }
const type = ['application/json', 'application/a2a+json']

/** A server that answers with the body that it read, or with the problem of it. */
async function serveEcho(parse: RequestHandler) {
  const app = express()
  let noteEnd: (code: string) => void = () => {}
  const ended = new Promise<string>((resolve) => {
    noteEnd = resolve
  })
  app.use(parse, (req, res) => void res.json({ body: req.body }))
  app.use(((error, _req, res, _next) => {
    const { code, status, message } = toProblem(fromExpress(error) ?? error)
    noteEnd(code)
    res.status(status).json({ code, message })
  }) satisfies express.ErrorRequestHandler)
  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  const close = () => {
    server.closeAllConnections()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  }
  return { port, ended, [Symbol.asyncDispose]: close }
}

async function post(port: number, body: string | Buffer, headers: Record<string, string> = {}) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: body as string }
  const answer = await fetch(`http://127.0.0.1:${port}/`, init)
  return { status: answer.status, answer: (await answer.json()) as { code?: string; message?: string } }
}

/** The same type in other letters: such a body is read by Express's parser. */
const unusual = { 'content-type': 'Application/JSON' }

test.each([
  ['an object', '{"a":[1,{"b":"ä"}]}'],
  ['a text that begins with a byte order mark', '\uFEFF{"a":1}'],
  ['a value that is no object', '17'],
  ['text that is not JSON', '{"a":'],
  ['blanks alone', '  '],
  ['nothing', ''],
  ['more bytes than are accepted', JSON.stringify('x'.repeat(limit))],
  ['as many bytes as are accepted', JSON.stringify('x'.repeat(limit - 2))],
  ['more levels than are accepted', '['.repeat(140) + ']'.repeat(140)],
  ['half of a surrogate pair', '{"a":"\\ud800"}'],
])('a body that is %s is read the same, however its type is written', async (_what, body) => {
  for (const strict of [true, false]) {
    await using server = await serveEcho(parseJson(context, type, strict))
    expect(await post(server.port, body)).toEqual(await post(server.port, body, unusual))
  }
})

test.each([
  ['gzip', gzipSync],
  ['GZIP', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['gzip, identity', gzipSync],
])('a body with the encoding %s is not decompressed', async (encoding, compress) => {
  await using server = await serveEcho(parseJson(context, type))
  const { status, answer } = await post(server.port, compress('{"a":1}'), { 'content-encoding': encoding })
  expect([status, answer.code]).toEqual([415, 'unsupported-media-type'])
  expect(answer.message).toContain('Send the body uncompressed')
})

test('a body that says that it is not compressed is read', async () => {
  await using server = await serveEcho(parseJson(context, type))
  const answer = await post(server.port, '{"a":1}', { 'content-encoding': 'identity' })
  expect(answer).toEqual({ status: 200, answer: { body: { a: 1 } } })
})

test('a body that arrives in pieces is put together', async () => {
  await using server = await serveEcho(parseJson(context, type))
  const socket = connect(server.port, '127.0.0.1')
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{"a":"')
  await new Promise((resolve) => setImmediate(resolve))
  socket.write(Buffer.from('xä"}').subarray(0, 2))
  await new Promise((resolve) => setImmediate(resolve))
  socket.write(Buffer.concat([Buffer.from('xä"}').subarray(2), Buffer.from(' ')]))
  const [answer] = await new Promise<[Buffer]>((resolve) => socket.once('data', (data) => resolve([data])))
  socket.destroy()
  expect(answer.toString()).toContain('{"body":{"a":"xä"}}')
})

test('a client that goes away before the end of its body ends the request', async () => {
  await using server = await serveEcho(parseJson(context, type))
  const socket = connect(server.port, '127.0.0.1')
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{"a":', () =>
    setImmediate(() => socket.destroy()),
  )
  expect(await server.ended).toBe('invalid-request')
})
