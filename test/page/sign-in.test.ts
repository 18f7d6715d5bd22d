import { afterAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { executablePath, openPage, stopBrowser, violationsIn } from './browser.ts'

afterAll(stopBrowser)

const refusal = 'The sign-in link is wrong, was used already or has expired.'

const linkOf = async (gateway: TestGateway, key = gateway.adminKey): Promise<string> =>
  gateway.url + (await gateway.call('POST', '/v1/sign-in-codes', undefined, { key })).body.path

describe.skipIf(executablePath === undefined)('a person with a link', () => {
  test('is signed in with its key, and the code is in no address, history or storage', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const link = await linkOf(gateway, donna.key)
    const code = link.split('/').at(-1)!
    const { page, faults, asked } = await openPage(gateway, undefined, { link })
    await page.getByText('Nothing waits for you.').waitFor()
    expect(await page.locator('.who').textContent()).toContain('@donna')
    const left =
      '[location.href, document.cookie, JSON.stringify({ ...localStorage, ...sessionStorage }), history.length]'
    const [address, cookie, storage, length] = (await page.evaluate(left)) as [string, string, string, number]
    expect([address, cookie]).toEqual([`${gateway.url}/#/needs`, ''])
    expect(storage).not.toContain(code)
    expect(storage).toContain(donna.key)
    // The page of the browser before it, and this one: no step back leads to the code.
    expect(length).toBeLessThanOrEqual(2)
    expect(await violationsIn(page)).toEqual([])

    // The same link again, in the open tab and in a fresh browser: it says why, and the tab stays as it was.
    await page.evaluate(`location.hash = ${JSON.stringify(new URL(link).hash)}`)
    await page.getByText(refusal).first().waitFor()
    expect(await page.locator('.who').textContent()).toContain('@donna')
    const other = await openPage(gateway, undefined, { link })
    await other.page.getByRole('alert').waitFor()
    expect(await other.page.getByRole('alert').textContent()).toContain(refusal)
    expect(await other.page.evaluate('location.hash')).toBe('#/needs')
    expect(await violationsIn(other.page)).toEqual([])
    expect([...faults, ...asked, ...other.faults]).toEqual([])
  })

  test('changes to its key in a tab that is signed in, and acts in the project that it names', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    await gateway.call('POST', '/v1/projects', { project: 'web' })
    await gateway.call('POST', '/v1/agents', { handle: 'zoe', project: 'web' })
    const { page } = await openPage(gateway, donna.key)
    const { hash } = new URL(`${await linkOf(gateway)}?project=web`)
    await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
    await page.getByRole('dialog').getByRole('button', { name: 'Sign in as @operator' }).click()
    await page.locator('.who', { hasText: '@operator · web' }).waitFor()
    await page.getByRole('link', { name: 'Agents' }).click()
    await page.getByRole('row', { name: '@zoe' }).waitFor()
  })

  test('of somebody else is asked first, in each tab, and stays who they are when they say so', async () => {
    await using gateway = await startGateway()
    const mallory = await gateway.addAgent('mallory')
    const { page, faults } = await openPage(gateway, gateway.adminKey)
    const who = (name: string) => page.locator('.who', { hasText: name }).waitFor()
    await who('@operator')
    const foreign = async () => new URL(await linkOf(gateway, mallory.key)).hash
    await page.evaluate(`location.hash = ${JSON.stringify(await foreign())}`)
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('heading', { name: 'Sign in as @mallory · default?' }).waitFor()
    expect(await violationsIn(page)).toEqual([])
    await dialog.getByRole('button', { name: /^Stay @operator/ }).click()
    await page.getByText('The link was not used.').waitFor()
    await who('@operator')

    // A new tab that opens with such a link knows that another one is signed in.
    const other = await page.context().newPage()
    await other.goto(`${gateway.url}/${await foreign()}`)
    await other
      .getByRole('dialog')
      .getByRole('button', { name: /^Stay @operator/ })
      .click()
    await other.locator('.who', { hasText: '@operator' }).waitFor()

    // Who wants it becomes the other in that tab alone; a third tab asks which of the two it shall be.
    await other.evaluate(`location.hash = ${JSON.stringify(await foreign())}`)
    await other
      .getByRole('dialog')
      .getByRole('button', { name: /^Sign in as @mallory/ })
      .click()
    await other.locator('.who', { hasText: '@mallory' }).waitFor()
    await who('@operator')
    const third = await page.context().newPage()
    await third.goto(`${gateway.url}/`)
    await third
      .getByRole('dialog')
      .getByRole('button', { name: /@operator/ })
      .click()
    await third.locator('.who', { hasText: '@operator' }).waitFor()
    expect(faults).toEqual([])
  })
})
