import { afterAll, describe, expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { executablePath, isTooWide, openPage, stopBrowser, violationsIn } from './browser.ts'
import { openOffice } from './office.ts'

afterAll(stopBrowser)

describe.skipIf(executablePath === undefined)('a person', () => {
  test('sees everything that waits for somebody, answers a question and mends a subscription there', async () => {
    await using gateway = await startGateway()
    const { donna, asking, degraded } = await openOffice(gateway)
    const { page, faults, asked } = await openPage(gateway, gateway.adminKey)
    const card = (kind: string) => page.locator(`[data-kind=${kind}]`)
    await card('input').waitFor()
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/needs.png`, fullPage: true })
    expect(await violationsIn(page)).toEqual([])
    expect(await page.getByText('Which environment: staging or production?').count()).toBe(1)
    for (const kind of ['approval', 'degraded', 'parked']) expect(await card(kind).count(), kind).toBe(1)

    await card('input').getByLabel('Your answer').fill('Staging first.')
    await card('input').getByRole('button', { name: 'Answer' }).click()
    await card('input').waitFor({ state: 'detached' })
    const { body: task } = await gateway.call('GET', `/v1/tasks/${asking}`, undefined, donna)
    expect(task).toMatchObject({ state: 'submitted' })
    expect(task.history.at(-1)).toMatchObject({ role: 'ROLE_USER', parts: [{ text: 'Staging first.' }] })

    await card('parked').getByRole('button', { name: 'End the park' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End the park' }).click()
    await card('parked').waitFor({ state: 'detached' })

    await card('degraded').getByRole('button', { name: 'Reactivate' }).click()
    expect(await page.getByRole('dialog').textContent()).toContain('1 event waiting')
    expect(await violationsIn(page)).toEqual([])
    await page.getByRole('dialog').getByRole('button', { name: 'Reactivate' }).click()
    await card('degraded').waitFor({ state: 'detached' })
    const status = async () => (await gateway.call('GET', `/v1/wake-subscriptions/${degraded}`)).body.status
    await until(status, (now) => now === 'active')
    expect(faults).toEqual([])
    expect(asked).toEqual([])
  })

  test('sees a new question without a reload, at the width of a phone, and in the dark', async () => {
    await using gateway = await startGateway()
    const { donna, working } = await openOffice(gateway)
    const phone = { viewport: { width: 360, height: 740 }, colorScheme: 'dark' } as const
    const { page, faults } = await openPage(gateway, gateway.adminKey, phone)
    await page.locator('[data-kind=input]').waitFor()
    await gateway.move(donna, working, 'input-required', { message: 'May I rename the module?' })
    await page.getByText('May I rename the module?').waitFor()
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/needs-phone.png`, fullPage: true })
    expect(await isTooWide(page)).toBe(false)
    expect(await violationsIn(page)).toEqual([])
    const asked = page.locator('[data-kind=input]', { hasText: 'May I rename' })
    await asked.getByLabel('Your answer').fill('Yes.')
    await asked.getByRole('button', { name: 'Answer' }).click()
    await asked.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Agents' }).click()
    await page.getByRole('row', { name: '@donna' }).waitFor()
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/agents-phone.png`, fullPage: true })
    expect(await isTooWide(page)).toBe(false)
    expect(await violationsIn(page)).toEqual([])
    expect(faults).toEqual([])
  })

  test('puts a need off, finds it among those that were put off, and has it shown again', async () => {
    await using gateway = await startGateway()
    await openOffice(gateway)
    const { page, faults } = await openPage(gateway, gateway.adminKey)
    const card = page.locator('[data-kind=input]')
    await card.waitFor()
    const badge = page.locator('.badge')
    const before = Number(await badge.textContent())
    await card.getByLabel('Put off: @donna').selectOption({ label: 'for 4 hours' })
    await page.getByText('It is put off for 4 hours.').waitFor()
    await page.getByText('Put off: 1').click()
    await page.getByText('Put off, ends in 3 h').waitFor()
    expect(Number(await badge.textContent())).toBe(before - 1)
    expect(await violationsIn(page)).toEqual([])
    await card.getByRole('button', { name: 'Show it again' }).click()
    await page.getByText('Put off: 1').waitFor({ state: 'detached' })
    expect(Number(await badge.textContent())).toBe(before)
    expect(faults).toEqual([])
  })
})
