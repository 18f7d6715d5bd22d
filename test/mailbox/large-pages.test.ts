import { expect, test } from 'vitest'
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
