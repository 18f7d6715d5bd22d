import type { Page } from 'playwright-core'
import { afterAll, describe, expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'
import { executablePath, openPage, stopBrowser } from './browser.ts'

afterAll(stopBrowser)

const live = (page: Page) => page.locator('.who', { hasText: /^\s*live/ }).waitFor()

/** A further tab of the same browser: it gets the key from the first one. */
async function anotherTab(first: Page, url: string): Promise<Page> {
  const page = await first.context().newPage()
  page.setDefaultTimeout(15_000)
  await page.goto(url)
  return page
}

describe.skipIf(executablePath === undefined)('in several tabs', () => {
  test('a person sees each of nine drawn and live, also when the one that holds the stream closes', async () => {
    await using gateway = await startGateway()
    await gateway.addAgent('donna')
    const { page: first, faults } = await openPage(gateway, gateway.adminKey)
    const tabs = [first]
    for (let n = 2; n <= 9; n++) {
      tabs.push(await anotherTab(first, `${gateway.url}/#/tasks`))
      await live(tabs.at(-1)!)
    }
    await gateway.send('donna', 'Read by all')
    for (const tab of tabs.slice(1)) await tab.getByRole('main').getByText('Read by all').waitFor()
    await first.close()
    await gateway.send('donna', 'Read by those that are left')
    for (const tab of tabs.slice(1)) {
      await live(tab)
      await tab.getByRole('main').getByText('Read by those that are left').waitFor()
    }
    expect(faults).toEqual([])
  })

  test.each([429, 500, 502, 503, undefined])(
    'a person who reloads while the gateway answers %s is not signed out, here or in another tab',
    async (status) => {
      await using gateway = await startGateway()
      const { page, faults } = await openPage(gateway, gateway.adminKey)
      const other = await anotherTab(page, `${gateway.url}/#/write`)
      await other.getByLabel('Text').fill('half a letter')
      await page.route('**/v1/whoami', (route) =>
        status === undefined ? route.abort() : route.fulfill({ status, body: '<h1>Bad gateway</h1>' }),
      )
      await page.reload()
      await page.getByText('Trying again').waitFor()
      const said = status === undefined ? 'The gateway does not answer.' : `The gateway answered ${status}.`
      expect(await page.getByRole('alert').textContent()).toContain(said)
      await page.unroute('**/v1/whoami')
      await live(page)
      expect(await other.getByLabel('Text').inputValue()).toBe('half a letter')
      expect(faults).toEqual([])
    },
  )

  test('a key that is refused signs out the tab that has it, and no other', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const { body: made } = await gateway.call('POST', '/v1/agents/donna/keys', {})
    const { page } = await openPage(gateway, gateway.adminKey)
    const other = await anotherTab(page, `${gateway.url}/`)
    await live(other)
    const signIn = async (key: string) => {
      await other.getByLabel('Key of an agent or an operator').fill(key)
      await other.getByRole('button', { name: 'Sign in' }).click()
    }
    await other.evaluate('sessionStorage.setItem("rouse-key", "rk_wrong")')
    await other.reload()
    await signIn('rk_wrong_too')
    await other.getByText('The gateway does not know this key.').waitFor()
    await signIn(made.apiKey)
    await other.getByText('@donna').first().waitFor()
    await gateway.call('DELETE', `/v1/agents/donna/keys/${made.keyId}`, undefined, donna)
    await other.getByRole('alert').getByText('This key is not valid any more.').waitFor()
    await live(page)
  })

  test('what is shown stays while the gateway is away, and so does the number of needs', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const { id } = await gateway.send('donna', 'Deploy')
    await gateway.move(donna, id, 'input-required', { message: 'Where?' })
    const { page } = await openPage(gateway, gateway.adminKey)
    await page.locator('.lines [data-kind=input]').waitFor()
    await page.locator('.rail .badge', { hasText: '1' }).waitFor()
    await page.route('**/v1/needs', (route) => route.fulfill({ status: 503, body: '' }))
    await gateway.send('donna', 'An event')
    await page.getByRole('alert').getByText('The gateway answered 503.').waitFor()
    expect(await page.locator('.lines [data-kind=input]').count()).toBe(1)
    expect(await page.locator('.rail .badge').textContent()).toBe('1')
  })

  test('a page that came without TLS from another machine, where browsers have no locks, is live too', async () => {
    await using gateway = await startGateway()
    await gateway.addAgent('donna')
    const { page, faults } = await openPage(gateway, gateway.adminKey)
    await page.context().addInitScript("Object.defineProperty(navigator, 'locks', { value: undefined })")
    await page.reload()
    await live(page)
    const other = await anotherTab(page, `${gateway.url}/#/tasks`)
    await live(other)
    await gateway.send('donna', 'Read by all')
    await other.getByRole('main').getByText('Read by all').waitFor()
    expect(faults).toEqual([])
  })

  test('a stream that goes silent is opened again', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const { hostname, port } = new URL(gateway.url)
    await using proxy = await startTcpProxy({ host: hostname, port: Number(port) })
    const { page } = await openPage({ url: `http://127.0.0.1:${proxy.port}` }, gateway.adminKey)
    await live(page)
    await page.clock.install()
    await page.reload()
    await live(page)
    let streams = 0
    page.on('request', (request) => {
      if (request.url().endsWith('/v1/events')) streams++
    })
    proxy.silenceOpen()
    await page.clock.fastForward(76_000)
    await until(
      () => streams,
      (count) => count === 1,
    )
    const { id } = await gateway.send('donna', 'Deploy')
    await gateway.move(donna, id, 'input-required', { message: 'Where?' })
    await page.locator('.lines [data-kind=input]').waitFor()
  })
})
