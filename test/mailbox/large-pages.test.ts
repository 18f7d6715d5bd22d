import { expect, test } from 'vitest'
import { startCrowded } from '../support/crowded.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

const body = 'x'.repeat(30_000)

/** A thread from the operator to mallory, which counts for no agent. The default has 3.9 MB; two messages are not large. Returns its id. */
async function writeThread(gateway: TestGateway, count = 130): Promise<string> {
  const send = async (inReplyTo: string | undefined) => {
    const mail = { to: '@mallory', body, ...(inReplyTo !== undefined && { inReplyTo }) }
    const sent = await gateway.call('POST', '/v1/messages', mail)
    expect(sent.status).toBe(201)
    return sent.body
  }
  const { messageId, threadId } = await send(undefined)
  await Promise.all(Array.from({ length: count - 1 }, () => send(messageId)))
  return threadId
}

test('large threads share what their reader may read, though each has a path of its own', async () => {
  await using crowded = await startCrowded()
  const { gateway, read } = crowded
  const threads = [await writeThread(gateway), await writeThread(gateway)]
  expect(await read(`/v1/threads/${threads[0]}?limit=200`)).toBe(200)
  expect(await read(`/v1/threads/${threads[1]}?limit=200`)).toBe(429)
  expect(await read(`/v1/threads/${threads[1]}?limit=1`)).toBe(200)
})

test('a small answer does not make the next large page of an inbox free', async () => {
  await using crowded = await startCrowded()
  const { gateway, read } = crowded
  await writeThread(gateway)
  expect(await read('/v1/inbox?limit=200')).toBe(200)
  // Expected to be as large as the last one, and refused: a small answer.
  expect(await read('/v1/inbox?limit=1')).toBe(429)
  expect(await read('/v1/inbox?limit=200')).toBe(429)
})

test('a page that looks for a rare concept reads few large messages, and says where the next one begins', async () => {
  await using gateway = await startGateway()
  const mallory = await gateway.addAgent('mallory')
  await writeThread(gateway, 250)
  const page = async (token: string) =>
    (await gateway.call('GET', `/v1/inbox?taggedConcept=none${token}`, undefined, mallory)).body
  const first = await page('')
  expect(first).toMatchObject({ messages: [], nextPageToken: expect.stringMatching(/./) })
  expect(await page(`&pageToken=${first.nextPageToken}`)).toMatchObject({ messages: [] })
})
