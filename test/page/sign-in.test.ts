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
    await page.getByText('@operator').waitFor()
    await page.getByRole('link', { name: 'Agents' }).click()
    await page.getByRole('row', { name: '@zoe' }).waitFor()
    expect(await page.getByLabel('Project').inputValue()).toBe('web')
  })
})
