import { expect, test } from 'vitest'
import { readEventStream } from '../../src/client/event-stream.ts'
import { event, eventPage } from './answers.ts'
import { problem, startStubGateway } from './stub-gateway.ts'
import { run, start } from './terminal.ts'

test('tail reads page after page', async () => {
  await using gateway = await startStubGateway({
    'GET /v1/events': (request) => {
      const since = Number(request.query.since)
      return { json: eventPage(...[since + 1, since + 2].filter((logId) => logId <= 3).map(event)) }
    },
  })
  const { code, stdout } = await run(['tail', '--json', '--url', gateway.url])
  expect(code).toBe(0)
  expect(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).logId),
  ).toEqual([1, 2, 3])
  expect(gateway.requests.map((request) => request.query.since)).toEqual(['0', '2', '3'])
})

test('tail prints one line an event', async () => {
  await using gateway = await startStubGateway({
    'GET /v1/events': (request) => ({ json: request.query.since === '6' ? eventPage(event(7)) : eventPage() }),
  })
  const { stdout } = await run(['tail', '--since', '6', '--url', gateway.url])
  expect(stdout).toBe('2026-04-26T10:00:00.000Z  @boss       message sent  "mail 7"\n')
})

test('tail on a terminal names the task of each step, in one line, and prints the words of others as plain text', async () => {
  const id = '01a20092-9da5-7c6f-a1a7-251794eeca73'
  const about = { taskId: id, createdAt: new Date().toISOString() }
  const step = { previousState: 'submitted', newState: 'working', assignee: '@donna' }
  await using gateway = await startStubGateway({
    'GET /v1/events': (request) => ({
      json:
        request.query.since === '0'
          ? eventPage(
              { ...event(1), ...about, data: { messageId: 'm1', subject: 'Review\u001b[2J the parser' } },
              { ...event(2), ...about, type: 'task.state_changed', actor: '@donna', data: { taskId: id, ...step } },
              { ...event(3), ...about, type: 'wake.failed', data: { agent: '@donna', reason: 'x'.repeat(90) } },
            )
          : eventPage(),
    }),
  })
  const { stdout } = await run(['tail', '--url', gateway.url], {}, { columns: 80 })
  const [sent, moved, failed] = stdout.split('\n')
  expect(sent).toMatch(/^\d\d:\d\d:\d\d {2}@boss {7}message sent {2}…94eeca73 "Review\S* the parser" m1$/)
  expect(moved).toMatch(/ {2}@donna {6}task submitted → working {2}…94eeca73 "Review\S* the parser…$/)
  expect(failed).toHaveLength(80)
  expect(failed).toMatch(/wake failed {2}…94eeca73 "Review\S* the parser" @donna \(x+…$/)
  expect(stdout).not.toContain('\u001b')
})

test('tail --follow reconnects after the last event, and shows each event once', async () => {
  await using gateway = await startStubGateway({
    'GET /v1/events': (_request, response) => {
      const frames = [
        `id: 1\ndata: ${JSON.stringify(event(1))}\n\n`,
        `: beat\n\nid: 2\ndata: ${JSON.stringify(event(2))}\n\n`,
      ]
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      if (gateway.requests.length === 1) {
        response.end(`retry: 1\n\n${frames[0]}`)
      } else {
        response.write(frames.join(''))
      }
    },
  })
  const terminal = start(['tail', '--follow', '--since', '0', '--json', '--url', gateway.url])
  await terminal.until(/mail 2/)
  terminal.interrupt()
  expect(await terminal.code).toBe(130)
  expect(
    terminal
      .stdout()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).logId),
  ).toEqual([1, 2])
  expect(terminal.stderr()).toContain('The stream ended after event 1')
  expect(gateway.requests[0]!.headers.accept).toBe('text/event-stream')
  expect(gateway.requests[1]!.headers['last-event-id']).toBe('1')
  expect(gateway.requests[1]!.query.since).toBe('1')
})

test('tail --follow ends when the gateway refuses', async () => {
  const refusal = problem(410, 'watermark-expired', 'The log no longer has the events after the watermark')
  await using gateway = await startStubGateway({ 'GET /v1/events': refusal })
  const { code, stderr } = await run(['tail', '--follow', '--since', '1', '--url', gateway.url])
  expect(code).toBe(1)
  expect(stderr).toContain('watermark-expired')
})

test.each([
  ['LF', 'id: 1\nevent: e\ndata: a\ndata: b\n\n'],
  ['CRLF', 'id: 1\r\nevent: e\r\ndata: a\r\ndata: b\r\n\r\n'],
  ['CR', 'id: 1\revent: e\rdata: a\rdata: b\r\r\n'],
])('an event stream with %s is read wherever it is cut', async (_name, text) => {
  const bytes = new TextEncoder().encode(`: comment\n\n${text}data:ä\n\n`)
  for (let cut = 0; cut <= bytes.length; cut++) {
    const events = []
    for await (const item of readEventStream(chunks(bytes.slice(0, cut), bytes.slice(cut)))) events.push(item)
    expect(events).toEqual([{ id: '1', event: 'e', data: 'a\nb' }, { data: 'ä' }])
  }
})

async function* chunks(...parts: Uint8Array[]) {
  yield* parts
}
