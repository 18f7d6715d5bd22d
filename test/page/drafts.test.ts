import type { Page } from 'playwright-core'
import { afterAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { executablePath, openPage, stopBrowser } from './browser.ts'

afterAll(stopBrowser)

const field = (page: Page) => page.getByLabel('Your answer')
const typed = (page: Page, text: string) =>
  until(
    () => field(page).inputValue(),
    (value) => value === text,
  )

/** A task that asks, and one that somebody works on. */
async function openQuestion(gateway: TestGateway) {
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.send('donna', 'Deploy the release.')
  await gateway.move(donna, id, 'input-required', { message: 'Where?' })
  const { id: other } = await gateway.send('donna', 'Clean up.')
  return { donna, id, other }
}

describe.skipIf(executablePath === undefined)('what a person has typed', () => {
  test('is kept over a live update, other views, Back, a reload and a key that ends', async () => {
    await using gateway = await startGateway()
    const { donna, other } = await openQuestion(gateway)
    const { body: key } = await gateway.call('POST', '/v1/operator-keys', { role: 'manager' })
    const { page, faults } = await openPage(gateway, key.operatorKey)
    await field(page).fill('To staging, then')
    await gateway.move(donna, other, 'auth-required', { message: 'A login, please' })
    await page.locator('.lines [data-kind=auth]').waitFor()
    expect(await field(page).inputValue()).toBe('To staging, then')
    await page.locator('.lines [data-kind=auth]').click()
    await page.getByLabel('What you have done').fill('Logged in')
    await page.locator('.lines [data-kind=input]').click()
    await typed(page, 'To staging, then')
    await page.getByRole('link', { name: 'Agents' }).click()
    await page.getByRole('heading', { name: 'Agents' }).waitFor()
    await page.goBack()
    await typed(page, 'To staging, then')
    await page.reload()
    await typed(page, 'To staging, then')
    await gateway.call('DELETE', `/v1/operator-keys/${key.keyId}`)
    await page.getByRole('alert').getByText('This key is not valid any more.').waitFor()
    await page.getByLabel('Key of an agent or an operator').fill(gateway.adminKey)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.locator('.lines [data-kind=input]').click()
    await typed(page, 'To staging, then')
    // It is nobody else's: who signs out, or signs in as another, leaves nothing.
    await page.evaluate(`location.hash = '#/you'`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Key of an agent or an operator').waitFor()
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
    expect(faults).toEqual([])
  })

  test('is shown with the name of who has answered meanwhile, and stays until it is thrown away', async () => {
    await using gateway = await startGateway()
    const { donna, id } = await openQuestion(gateway)
    const { page, faults } = await openPage(gateway, gateway.adminKey)
    await field(page).fill('To staging')
    const other = await page.context().newPage()
    await other.goto(`${gateway.url}/`)
    await field(other).fill('To production')
    await other.getByRole('button', { name: 'Send the answer' }).click()
    await other.getByText('The answer is sent').waitFor()
    const entry = page.locator('.entry')
    await entry.getByText('Answered meanwhile by @operator').waitFor()
    expect(await entry.innerText()).toMatch(/Deploy the release\.[\s\S]*Your text:\s+To staging/)
    const { body } = await gateway.call('GET', `/v1/tasks/${id}/messages`, undefined, donna)
    expect(body.messages.map(({ parts }: { parts: { text: string }[] }) => parts[0]!.text)).not.toContain('To staging')
    await entry.getByRole('button', { name: 'Throw it away' }).click()
    await entry.getByText('Your text:').waitFor({ state: 'detached' })
    expect(faults).toEqual([])
  })

  test('is sent once by a double click, and once when the answer of the gateway was lost', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const { page } = await openPage(gateway, gateway.adminKey)
    const mails = async () => (await gateway.call('GET', '/v1/inbox', undefined, donna)).body.messages.length
    const write = async (button: string) => {
      await page.evaluate(`location.hash = '#/write?to=%40donna'`)
      await page.getByLabel('Text').fill('Only once')
      await page.getByRole('button', { name: button }).dblclick()
    }
    const slowly = async (route: import('playwright-core').Route) => {
      const response = await route.fetch()
      await new Promise((resolve) => setTimeout(resolve, 400))
      await route.fulfill({ response })
    }
    await page.route('**/v1/messages', slowly)
    await write('Send as mail')
    await page.getByRole('heading', { name: 'Only once' }).waitFor()
    expect(await mails()).toBe(1)
    await page.getByLabel('Reply to @operator').fill('And this')
    await page.getByRole('button', { name: 'Reply' }).dblclick()
    await page.getByText('The reply is sent.').waitFor()
    expect(await mails()).toBe(2)
    await page.route('**/agents/donna', slowly)
    await write('Send as a task')
    await page.getByRole('heading', { name: 'What happened' }).waitFor()
    expect((await gateway.call('GET', '/v1/tasks', undefined, donna)).body.totalSize).toBe(1)

    await page.unroute('**/v1/messages')
    await page.route('**/v1/messages', async (route) => {
      await route.fetch()
      await route.abort()
    })
    await write('Send as mail')
    await page.locator('#notes.bad', { hasText: 'The gateway does not answer.' }).waitFor()
    await page.unroute('**/v1/messages')
    expect(await page.getByLabel('Text').inputValue()).toBe('Only once')
    const before = await mails()
    await page.getByRole('button', { name: 'Send as mail' }).click()
    await page.getByRole('heading', { name: 'Only once' }).waitFor()
    expect(await mails()).toBe(before)
  })
})
