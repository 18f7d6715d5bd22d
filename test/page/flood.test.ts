import type { Page } from 'playwright-core'
import { afterAll, describe, expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { executablePath, openPage, stopBrowser } from './browser.ts'
import { watchedMs, whileScrolling } from './frames.ts'

afterAll(stopBrowser)

const lateMax = 5_000
const mailsMax = 150
const sendersMax = 32
const kb = 1_024

/** Counts the bytes that a tab reads, as its browser got them from the wire. */
async function countBytes(page: Page): Promise<() => number> {
  const client = await page.context().newCDPSession(page)
  await client.send('Network.enable')
  await client.send('Network.setCacheDisabled', { cacheDisabled: true })
  let bytes = 0
  client.on('Network.dataReceived', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  client.on('Network.responseReceivedExtraInfo', ({ headersText = '' }) => {
    bytes += headersText.length
  })
  return () => bytes
}

describe.skipIf(executablePath === undefined)('with 5,000 late tasks and 150 mails of one agent', () => {
  test('the one question is the first line, and is answered with three keys, few bytes and no stutter', async () => {
    const clock = new FakeClock(Date.now())
    const env = { ROUSE_STORM_MESSAGES: '0', ROUSE_MESSAGES_PER_MINUTE: '0' }
    await using gateway = await startGateway({ env, overrides: { clock } })
    const donna = await gateway.addAgent('donna')
    const mia = await gateway.addAgent('mia')
    let next = 0
    const sender = async () => {
      while (next < lateMax + mailsMax) {
        const n = next++
        if (n < lateMax) await gateway.send('mia', `Review change ${n} of the parser, and say what is missing.`)
        else await gateway.call('POST', '/v1/messages', { to: '@operator', subject: `chat ${n}`, body: 'Hello' }, mia)
      }
    }
    await Promise.all(Array.from({ length: sendersMax }, sender))
    clock.advance(11 * 60_000)
    const { id } = await gateway.send('donna', 'Migrate the shop')
    await gateway.move(donna, id, 'input-required', { message: 'May I drop the production table?' })

    const { page, faults } = await openPage(gateway)
    const bytes = await countBytes(page)
    await page.reload()
    await page.getByLabel('Key of an agent or an operator').fill(gateway.adminKey)
    await page.keyboard.press('Enter')
    await page.locator('.entry').getByText('What led here').waitFor()
    await page.waitForLoadState('load')
    const opening = bytes()
    const lines = await page.locator('.lines li').allInnerTexts()
    expect(lines[0]).toContain('Migrate the shop')
    expect(lines.join()).toContain('@mia has not taken up 1,000+ tasks')
    expect(lines.join()).toContain('@mia sent 150 messages')
    expect(lines.length).toBe(3)

    await page.waitForTimeout(3_000)
    const before = bytes()
    await gateway.call('POST', '/v1/messages', { to: '@operator', subject: 'one more', body: 'Hello' }, mia)
    await page.locator('.lines').getByText('@mia sent 151 messages').waitFor()
    await page.waitForTimeout(3_000)
    const message = bytes() - before
    console.log(`read at opening: ${Math.round(opening / kb)} KB, for a message: ${(message / kb).toFixed(1)} KB`)
    expect(opening).toBeLessThan(500 * kb)
    expect(message).toBeLessThan(50 * kb)

    const someEvents = async () => {
      const over = Date.now() + watchedMs
      for (let n = 0; Date.now() < over; n++) {
        await gateway.call('POST', '/v1/messages', { to: '@operator', subject: `live ${n}`, body: 'Hello' }, mia)
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
    await page.locator('.lines a', { hasText: 'messages' }).click()
    await page.getByRole('button', { name: 'Show more' }).click()
    const frames = await whileScrolling(page, someEvents)
    console.log(`needs: frames in ms: ${JSON.stringify(frames)}`)
    expect(frames.median).toBeLessThanOrEqual(17)

    // A second look, as in the morning: the first line is open. Enter, the answer, Ctrl+Enter.
    await page.evaluate(`location.hash = '#/agents'`)
    await page.getByRole('heading', { name: 'Agents' }).waitFor()
    await page.evaluate(`location.hash = '#/needs/${id}@2'`)
    await page.locator('.entry').getByText('What led here').waitFor()
    await page.keyboard.press('Enter')
    await page.keyboard.type('No!')
    await page.keyboard.press('Control+Enter')
    await until(
      async () => (await gateway.call('GET', `/v1/tasks/${id}`)).body.state,
      (state) => state === 'submitted',
    )
    expect(faults).toEqual([])
  })
})
