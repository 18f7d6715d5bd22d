import { afterAll, describe, expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { executablePath, isTooWide, openPage, stopBrowser, violationsIn } from './browser.ts'
import { openOffice } from './office.ts'

afterAll(stopBrowser)

const phone = { viewport: { width: 360, height: 740 }, colorScheme: 'dark' } as const

describe.skipIf(executablePath === undefined)('a person', () => {
  test('sees what waits by urgency, answers a question beside the list, and goes on with the next need', async () => {
    await using gateway = await startGateway()
    const { donna, asking, degraded } = await openOffice(gateway)
    const { page, faults, asked } = await openPage(gateway, gateway.adminKey)
    const row = (kind: string) => page.locator(`.lines [data-kind=${kind}]`)
    const entry = page.locator('.entry')
    await row('input').waitFor()
    expect(await page.locator('.list h2').allInnerTexts()).toEqual(['Stops work 2', 'Wakes that fail 2'])
    for (const kind of ['approval', 'degraded', 'parked']) expect(await row(kind).count(), kind).toBe(1)
    // The number is that of what stops work.
    expect(await page.locator('.rail .badge').innerText()).toBe('2')

    await row('input').click()
    await entry.getByRole('heading', { name: 'Deploy the release.' }).waitFor()
    expect(await page.title()).toContain('(2) Deploy the release.')
    const texts = await entry.innerText()
    expect(texts.indexOf('Which environment')).toBeLessThan(texts.indexOf('Your answer'))
    expect(texts.indexOf('Your answer')).toBeLessThan(texts.indexOf('What led here'))
    expect(await violationsIn(page)).toEqual([])
    await entry.getByLabel('Your answer').fill('Staging first.')
    await page.keyboard.press('Control+Enter')
    await page.getByText('The answer is sent: Deploy the release.').waitFor()
    await row('input').waitFor({ state: 'detached' })
    const { body: task } = await gateway.call('GET', `/v1/tasks/${asking}`, undefined, donna)
    expect(task).toMatchObject({ state: 'submitted' })
    expect(task.history.at(-1)).toMatchObject({ role: 'ROLE_USER', parts: [{ text: 'Staging first.' }] })
    // The next need is open, and the focus is on its line.
    await entry.getByRole('heading', { name: '@lola is no longer woken' }).waitFor()
    await until(
      () => page.evaluate('document.activeElement.innerText'),
      (text) => String(text).includes('is no longer woken'),
    )

    await entry.getByRole('button', { name: 'Reactivate…' }).click()
    expect(await page.getByRole('dialog').textContent()).toContain('1 event waiting')
    expect(await violationsIn(page)).toEqual([])
    await page.getByRole('dialog').getByRole('button', { name: 'Reactivate' }).click()
    await row('degraded').waitFor({ state: 'detached' })
    const status = async () => (await gateway.call('GET', `/v1/wake-subscriptions/${degraded}`)).body.status
    await until(status, (now) => now === 'active')

    await row('parked').click()
    await page.waitForTimeout(1_050)
    await page.keyboard.press('e')
    await page.getByRole('dialog').getByRole('button', { name: 'End the park' }).click()
    await row('parked').waitFor({ state: 'detached' })
    expect(faults).toEqual([])
    expect(asked).toEqual([])
  })

  test('sees a new question without a reload, at the width of a phone, and in the dark', async () => {
    await using gateway = await startGateway()
    const { donna, working } = await openOffice(gateway)
    const { page, faults } = await openPage(gateway, gateway.adminKey, phone)
    await page.locator('[data-kind=input]').waitFor()
    await gateway.move(donna, working, 'input-required', { message: 'May I rename the module?' })
    const asked = page.locator('.lines [data-kind=input]', { hasText: 'May I rename' })
    await asked.waitFor()
    expect(await isTooWide(page)).toBe(false)
    expect(await violationsIn(page)).toEqual([])
    await asked.click()
    await page.getByLabel('Your answer').fill('Yes.')
    expect(await isTooWide(page)).toBe(false)
    expect(await violationsIn(page)).toEqual([])
    await page.getByRole('button', { name: 'Send the answer' }).click()
    // The list is back, without it.
    await page.getByRole('region', { name: 'Needs' }).waitFor()
    await asked.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Agents' }).click()
    await page.getByRole('row', { name: '@donna' }).waitFor()
    expect(await isTooWide(page)).toBe(false)
    expect(faults).toEqual([])
  })

  test('puts a need off with a menu, takes that back, and has it shown again', async () => {
    await using gateway = await startGateway()
    await openOffice(gateway)
    const { page, faults } = await openPage(gateway, gateway.adminKey)
    const row = page.locator('.lines [data-kind=input]')
    await row.click()
    const badge = page.locator('.rail .badge')
    expect(await badge.textContent()).toBe('2')
    await page.locator('.entry').getByRole('button', { name: 'Later…' }).click()
    // Moving in the menu does nothing by itself.
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp', 'Escape']) await page.keyboard.press(key)
    expect(await page.locator('#notes').innerText()).toBe('')
    await page.keyboard.press('z')
    expect(await violationsIn(page)).toEqual([])
    await page.getByRole('dialog').getByRole('button', { name: '4 hours' }).click()
    await page.getByText('Put off for 4 hours.').waitFor()
    await page.getByText('Put off: 1').waitFor()
    await until(
      () => badge.textContent(),
      (count) => count === '1',
    )
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('It is shown again.').waitFor()
    await page.getByText('Put off: 1').waitFor({ state: 'detached' })

    await row.click()
    await page.getByRole('button', { name: 'Cancel the task…' }).waitFor()
    await page.keyboard.press('z')
    await page.keyboard.press('3')
    await page.getByText('Put off for 1 day.').waitFor()
    await page.getByText('Put off: 1').click()
    await row.click()
    await page.locator('.entry').getByText('Put off, ends in 23 h').waitFor()
    await page.getByRole('button', { name: 'Show it again' }).click()
    await page.getByText('Put off: 1').waitFor({ state: 'detached' })
    expect(faults).toEqual([])
  })

  test('moves, searches and answers with keys, and no key acts while one types', async () => {
    await using gateway = await startGateway()
    const { lola } = await openOffice(gateway)
    for (const subject of ['Tests are red', 'Tests are green again']) {
      await gateway.call('POST', '/v1/messages', { to: '@operator', subject, body: 'Look at e and z.' }, lola)
    }
    const { page, faults } = await openPage(gateway, gateway.adminKey)
    const title = page.locator('.entry .title')
    await page.getByText('@lola sent 2 messages').waitFor()
    const titles = [await title.innerText()]
    for (let n = 0; n < 4; n++) {
      await page.keyboard.press('j')
      await until(
        () => title.innerText(),
        (text) => text !== titles.at(-1),
      )
      titles.push(await title.innerText())
    }
    expect(titles).toEqual([
      '@cody waits for an approval',
      'Deploy the release.',
      '@lola is no longer woken',
      '@lola is at a limit',
      '@lola sent 2 messages',
    ])
    // The line at hand has the focus; Enter goes to its answer, where letters are letters.
    await page.keyboard.press('Enter')
    await page.keyboard.type('jkez are letters')
    expect(await page.getByLabel('Reply to @lola').inputValue()).toBe('jkez are letters')
    expect(await title.innerText()).toBe('@lola sent 2 messages')
    await page.keyboard.press('Escape')
    // What has only just appeared is not resolved by a key that was meant for what stood there before.
    await page.waitForTimeout(1_050)
    await page.keyboard.press('e')
    await page.getByText('Resolved: Tests are red.').waitFor()
    await page.locator('.lines').getByText('Tests are green again').waitFor()
    await page.waitForTimeout(1_050)
    await page.keyboard.press('e')
    await page.getByText('Resolved: Tests are green again.').waitFor()

    await page.keyboard.press('/')
    await page.keyboard.type('release')
    await until(
      () => page.locator('.lines li').allInnerTexts(),
      (rows) => rows.length === 1 && rows[0]!.includes('Deploy the release.'),
    )
    await page.keyboard.press('Escape')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    expect(await violationsIn(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.keyboard.press('g')
    await page.keyboard.press('a')
    await page.getByRole('heading', { name: 'Agents' }).waitFor()
    expect(faults).toEqual([])
  })

  test('opens the late tasks of an agent, has one woken again, and cancels one by its name', async () => {
    const clock = new FakeClock(Date.now())
    await using gateway = await startGateway({ overrides: { clock } })
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
    const { id } = await gateway.send('donna', 'Check the nightly build')
    await gateway.send('donna', 'Clean up')
    const wakes = async (count: number) =>
      until(
        async () => {
          clock.advance(1_000)
          return receiver.wakes.length
        },
        (got) => got >= count,
      )
    await wakes(1)
    clock.advance(11 * 60_000)
    const { page, faults } = await openPage(gateway, gateway.adminKey)
    await page.locator('.lines').getByText('@donna has not taken up 2 tasks').waitFor()
    const entry = page.locator('.entry')
    await entry.getByText('It is woken by: a2a-webhook').waitFor()
    const before = receiver.wakes.length
    await entry.getByRole('button', { name: 'Wake it again' }).click()
    await page.getByText('@donna is woken again for Check the nightly build.').waitFor()
    await wakes(before + 1)
    expect(await violationsIn(page)).toEqual([])
    await entry.getByRole('button', { name: 'Cancel the task…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('heading', { name: 'Cancel “Check the nightly build”?' }).waitFor()
    await dialog.getByRole('button', { name: 'Cancel the task' }).click()
    await page.getByText('Canceled: Check the nightly build.').waitFor()
    await page.locator('.lines').getByText('Clean up').waitFor()
    expect((await gateway.call('GET', `/v1/tasks/${id}`)).body.state).toBe('canceled')
    expect(faults).toEqual([])
  })
})
