import { expect, test } from 'vitest'
import { openOffice } from './office.ts'

test('S4-9: one large message neither hides the others of an inbox nor the way to the next page', async () => {
  await using office = await openOffice()
  const { donna, bob } = office
  const payload = { a: 'x'.repeat(22_000), b: 'x'.repeat(22_000), c: 'x'.repeat(15_000) }
  const taggedConcepts = Array.from({ length: 90 }, (_, at) => `${at}${'c'.repeat(190)}`)
  const large = await bob.run('send_message', {
    to: '@donna',
    subject: 'large',
    body: 'x'.repeat(50_000),
    payload,
    taggedConcepts,
  })
  await bob.run('send_message', { to: '@donna', subject: 'small', body: 'second' })
  const seen: string[] = []
  let pageToken: string | undefined
  do {
    const { data } = await donna.run('read_inbox', { limit: 1, ...(pageToken ? { pageToken } : {}) })
    seen.push(...data.messages.map(({ subject }: { subject: string }) => subject))
    pageToken = data.nextPageToken
    expect(data.isCut).toBeUndefined()
  } while (pageToken !== undefined && seen.length < 5)
  expect(seen.filter((subject) => !subject.includes(' is here '))).toEqual(['large', 'small'])
  const { data } = await donna.run('read_thread', { messageId: large.data.messageId })
  expect(data.messages[0].body).toHaveLength(24_000)
  expect(data.bodyContinuesAt).toBe(24_000)
})
