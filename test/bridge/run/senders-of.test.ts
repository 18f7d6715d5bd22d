import { expect, test } from 'vitest'
import { sendersOf } from '../../../src/bridge/run/senders-of.ts'
import type { GatewayClient } from '../../../src/client/gateway-client.ts'

const never = new AbortController().signal

/** A gateway with this mail, the newest first, and the requests that it got. */
function inboxOf(writers: readonly string[]) {
  const pages: (string | undefined)[] = []
  const call = async (_route: string, { query }: { query: { pageToken?: string; limit: number } }) => {
    pages.push(query.pageToken)
    const begin = Number(query.pageToken ?? 0)
    const messages = writers
      .slice(begin, begin + query.limit)
      .map((from, at) => ({ messageId: `M${begin + at}`, from }))
    const next = begin + query.limit
    return { messages, nextPageToken: next < writers.length ? String(next) : '' }
  }
  return { gateway: { call } as unknown as GatewayClient, pages }
}

const digest = (payload: object) => ({
  eventType: 'wake/digest',
  eventId: '01KABCDEFGHJKMNPQRSTVWXY00',
  agentIdentity: '@donna',
  subscriptionId: 'WAKE_SUB:1',
  payload: { windowStart: new Date(0).toISOString(), latestMessage: { from: '@ben' }, ...payload },
})
const refs = Array.from({ length: 100 }, (_, at) => ({ messageId: `M${at + 150}` }))

test('who writes two hundred messages hides nobody in the digest of them', async () => {
  const { gateway, pages } = inboxOf([...Array(140).fill('@ben'), '@olga', ...Array(109).fill('@ben')])
  expect(await sendersOf(gateway, digest({ refs, refsTruncated: true }), never)).toEqual(['@ben', '@olga'])
  expect(pages).toEqual([undefined, '100', '200'])
})

test('a gateway whose inbox has no end gets a bounded number of requests', async () => {
  const { gateway, pages } = inboxOf(Array(100_000).fill('@ben'))
  expect(await sendersOf(gateway, digest({ refs, refsTruncated: true }), never)).toEqual(['@ben'])
  expect(pages).toHaveLength(10)
})
