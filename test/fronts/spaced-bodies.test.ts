import { afterEach, beforeEach, expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { connectRaw } from '../support/raw-connection.ts'
import { until } from '../support/until.ts'

let clock: FakeClock
let gateway: TestGateway
let mallory: TestAgent
let bob: TestAgent

beforeEach(async () => {
  clock = new FakeClock()
  gateway = await startGateway({ overrides: { clock } })
  await gateway.call('PATCH', '/v1/projects/default', { limits: { largeMegabytesPerMinute: 1 } })
  mallory = await gateway.addAgent('mallory')
  bob = await gateway.addAgent('bob')
})

afterEach(() => gateway[Symbol.asyncDispose]())

const MiB = 1024 * 1024

/** Sends a mail in chunks, without a length. Returns the answer, and how many bytes the connection took. `bytes`: of the body. */
async function send(bytes: number, isInCompany: boolean) {
  const company: Promise<unknown>[] = []
  const ask = (): unknown => company.push(gateway.call('GET', '/v1/whoami', undefined, { key: bob.key }))
  if (isInCompany) ask()
  await company[0]
  using sending = await connectRaw(gateway.url)
  const { socket, text } = sending
  socket.write(
    `POST /v1/messages HTTP/1.1\r\nHost: ${new URL(gateway.url).host}\r\nAuthorization: Bearer ${mallory.key}\r\n` +
      'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
  )
  const chunk = chunkOf(' '.repeat(65_536))
  let sent = 0
  const more = (): void => {
    while (sent < bytes && !socket.destroyed && text() === '') {
      sent += chunk.length
      if (!socket.write(chunk)) return void socket.once('drain', more)
    }
    if (sent >= bytes) socket.write(`${chunkOf(JSON.stringify({ to: '@bob', subject: 'hello' }))}0\r\n\r\n`)
  }
  more()
  await until(
    () => {
      if (isInCompany) ask()
      clock.advance(200)
      return text()
    },
    (found) => found.includes('}'),
  )
  await Promise.all(company)
  return { answer: text(), sent }
}

const chunkOf = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`

test('a body of unknown length waits before each further megabyte while others send requests', async () => {
  const endless = await send(64 * MiB, true)
  expect(endless.answer).toMatch(/^HTTP\/1.1 429 /)
  expect(endless.answer).toContain('"limitName":"largeMegabytesPerMinute"')
  // What was read of it, and what the system holds of a connection.
  expect(endless.sent).toBeLessThan(16 * MiB)
  // The next one waits from its first part on.
  expect((await send(MiB, true)).answer).toMatch(/^HTTP\/1.1 429 /)
})

test('who is alone waits for nothing: an endless body is refused by its size, and a large one is taken', async () => {
  // The operator was active a moment ago.
  clock.advance(5_000)
  expect((await send(64 * MiB, false)).answer).toMatch(/^HTTP\/1.1 413 /)
  expect((await send(3 * MiB, false)).answer).toMatch(/^HTTP\/1.1 201 /)
})
