import { afterAll, describe, expect, test } from 'vitest'
import { liftRates, startGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { executablePath, openPage, stopBrowser, violationsIn } from './browser.ts'

afterAll(stopBrowser)

/** The view of a list, what it asks, and the words that it has for an empty one. */
const lists = [
  ['#/needs', '**/v1/needs', 'Nothing waits'],
  ['#/agents', '**/v1/agents?*', 'No agents yet'],
  ['#/tasks', '**/v1/tasks?*', 'No tasks here'],
  ['#/mail', '**/v1/inbox?*', 'No mail yet'],
  ['#/deliveries', '**/v1/deliveries?*', 'No deliveries here'],
  ['#/claims', '**/v1/claims?*', 'Nobody has claimed'],
  ['#/log', '**/v1/events?*', 'No events here'],
  ['#/figures', '**/v1/figures?*', 'No wake arrived'],
] as const

describe.skipIf(executablePath === undefined)('a person', () => {
  test('is told of an error in each view, never of emptiness, and tries again there', async () => {
    await using gateway = await startGateway()
    const { page, faults } = await openPage(gateway, gateway.adminKey)
    await page.getByText('Nothing waits for you.').waitFor()
    // The first day says how to begin.
    await page.evaluate(`location.hash = '#/agents'`)
    await page.getByText('rouse agent add @donna').waitFor()
    expect(await violationsIn(page)).toEqual([])
    for (const [hash, path, empty] of lists) {
      await page.evaluate(`location.hash = '#/write'`)
      await page.getByRole('heading', { name: 'Write' }).waitFor()
      for (const answer of [
        { status: 500, body: '<h1>no</h1>' },
        { status: 200, body: '<h1>A portal</h1>' },
        undefined,
      ]) {
        // The log is read once.
        if (hash === '#/log' && answer?.status !== 500) continue
        await page.route(path, (route) => (answer ? route.fulfill(answer) : route.abort()))
        await page.evaluate(`location.hash = '${hash}'`)
        await page
          .getByRole('alert')
          .waitFor()
          .catch(() => expect.fail(`${hash} ${JSON.stringify(answer)}`))
        if (hash !== '#/needs') expect(await page.getByRole('main').innerText(), hash).not.toContain(empty)
        await page.unroute(path)
        // It may have tried again by itself.
        await page
          .getByRole('button', { name: 'Try again' })
          .click({ timeout: 2_000 })
          .catch(() => {})
        await page.getByRole('alert').waitFor({ state: 'detached' })
        await page.evaluate(`location.hash = '#/write'`)
        await page.getByRole('heading', { name: 'Write' }).waitFor()
      }
    }
    await page.getByLabel('To', { exact: true }).fill('@nobody')
    await page.getByLabel('Text').fill('Hello')
    await page.getByRole('button', { name: 'Send as a task' }).click()
    await page.locator('#notes.bad').waitFor()
    expect(await page.locator('#notes').innerText()).toMatch(/nobody/)
    expect(faults).toEqual([])
  })

  test('sees ages by the clock of the gateway, whatever the one of this machine says', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const { id } = await gateway.send('donna', 'Deploy')
    await gateway.move(donna, id, 'input-required', { message: 'Where?' })
    const { page } = await openPage(gateway, gateway.adminKey)
    await page.clock.install({ time: Date.now() + 3 * 3_600_000 })
    await page.reload()
    await until(
      () => page.locator('.lines time').innerText(),
      (text) => /^\d+ s$/.test(text),
    )
  })

  test('reads the newest messages of a long thread, and answers the last one', async () => {
    await using gateway = await startGateway({ env: { ROUSE_STORM_MESSAGES: '0', ROUSE_MESSAGES_PER_MINUTE: '0' } })
    await liftRates(gateway)
    const donna = await gateway.addAgent('donna')
    await gateway.addAgent('lola')
    const first = await gateway.call('POST', '/v1/messages', { to: '@lola', subject: 'm0', body: 'begin' }, donna)
    const { threadId } = first.body
    let last = first.body.messageId
    for (let n = 1; n <= 410; n++) {
      const body = { inReplyTo: last, subject: `m${n}`, body: 'on' }
      last = (await gateway.call('POST', '/v1/messages', body, donna)).body.messageId
    }
    const { page, faults } = await openPage(gateway, gateway.adminKey)
    await page.evaluate(`location.hash = '#/threads/${encodeURIComponent(threadId)}'`)
    await page.getByText('m410').waitFor()
    await page.getByText('The newest 50 of 411 messages.').waitFor()
    expect(await page.getByText('m5', { exact: true }).count()).toBe(0)
    await page.getByRole('button', { name: 'Show older ones' }).click()
    await page.getByText('m170', { exact: true }).waitFor()
    await page.getByLabel('Reply to @donna').fill('Enough of that.')
    await page.keyboard.press('Control+Enter')
    await page.locator('.letters').getByText('Enough of that.').waitFor()
    const { body } = await gateway.call('GET', '/v1/messages?limit=1')
    expect(body.messages[0].inReplyTo).toBe(last)
    expect(faults).toEqual([])
  })

  test('finds in the live log what was there before the page, with what it is about', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const { id } = await gateway.send('donna', 'Deploy the release.')
    const { page, faults } = await openPage(gateway, gateway.adminKey)
    await page.locator('.who', { hasText: /^\s*live/ }).waitFor()
    await gateway.move(donna, id, 'working')
    await page.waitForTimeout(1_000)
    await page.getByRole('link', { name: 'Log' }).click()
    const rows = page.locator('.log li')
    await rows.filter({ hasText: 'agent.created' }).waitFor()
    const moved = rows.filter({ hasText: 'working' })
    await moved.getByRole('link', { name: 'Deploy the release.' }).click()
    await page.getByRole('heading', { name: 'Deploy the release.', level: 1 }).waitFor()
    expect(await page.title()).toBe('Deploy the release. · Rouse')
    expect(faults).toEqual([])
  })

  test('hands a claim over to another agent, and takes nothing that is not stale', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    await gateway.addAgent('cody')
    await gateway.call('POST', '/v1/claims', { ref: 'issue 42' }, donna)
    const { page, faults } = await openPage(gateway, gateway.adminKey)
    await page.getByRole('link', { name: 'Claims' }).click()
    const row = page.getByRole('row', { name: 'issue 42' })
    expect(await row.getByRole('button', { name: 'Take over' }).count()).toBe(0)
    await row.getByRole('button', { name: 'Hand over…' }).click()
    await row.getByLabel('To', { exact: true }).fill('@cody')
    expect(await violationsIn(page)).toEqual([])
    await row.getByRole('button', { name: 'Hand it over' }).click()
    await row.getByRole('link', { name: '@cody' }).waitFor()
    await row.getByRole('button', { name: 'Release…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Release it' }).click()
    await page.getByText('Nobody has claimed work.').waitFor()
    expect(faults).toEqual([])
  })
})
