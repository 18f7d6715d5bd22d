import { afterAll, describe, expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { pushDevice } from '../support/push-device.ts'
import { until } from '../support/until.ts'
import { executablePath, openPage, stopBrowser } from './browser.ts'

afterAll(stopBrowser)

describe.skipIf(executablePath === undefined)('the notifications of a device', () => {
  test('begin and end by a button, are shown by the worker, and open what they are about', async () => {
    await using gateway = await startGateway()
    const { page, faults } = await openPage(gateway, gateway.adminKey)
    await page.context().grantPermissions(['notifications'], { origin: gateway.url })
    // A browser without a window has no push service: the keys are those of a device of the tests.
    const device = pushDevice
    await page.context().addInitScript(`{
      const made = { endpoint: ${JSON.stringify(device.endpoint)}, toJSON: () => (${JSON.stringify(device)}), unsubscribe: async () => (kept = null) }
      let kept = null
      PushManager.prototype.subscribe = async () => (kept = made)
      PushManager.prototype.getSubscription = async () => kept
    }`)
    await page.goto(`${gateway.url}/#/you`)
    await page.reload()
    const client = await page.context().newCDPSession(page)
    let registrationId = ''
    client.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      registrationId = registrations[0]?.registrationId ?? registrationId
    })
    await client.send('ServiceWorker.enable')
    await page.getByRole('button', { name: 'Notify me on this device' }).click()
    await page.getByRole('button', { name: 'Stop notifications on this device' }).waitFor()
    const { body } = await gateway.call('GET', '/v1/push')
    expect(body.subscriptions).toMatchObject([{ endpoint: device.endpoint }])

    await until(
      async () => registrationId,
      (id) => id !== '',
    )
    const data = JSON.stringify({
      title: '@donna asks',
      subject: 'Deploy the release.',
      kind: 'input',
      need: 'n1',
      place: '#/needs/n1',
    })
    await client.send('ServiceWorker.deliverPushMessage', { origin: gateway.url, registrationId, data })
    const shown = `navigator.serviceWorker.getRegistration('/page/').then((one) => one.getNotifications()).then((all) => all.map(({ title, body, tag, data }) => ({ title, body, tag, data })))`
    await until(
      () => page.evaluate(shown),
      (all) =>
        JSON.stringify(all) ===
        JSON.stringify([
          { title: '@donna asks', body: 'Deploy the release.', tag: 'n1', data: { place: '#/needs/n1' } },
        ]),
    )
    // A tab that is told of a place goes there.
    await page.evaluate(
      `navigator.serviceWorker.dispatchEvent(new MessageEvent('message', { data: { place: '#/needs/n1' } }))`,
    )
    await page.getByText('It waits no more').first().waitFor()

    const kept = `navigator.serviceWorker.getRegistration('/page/').then((one) => one.pushManager.getSubscription()).then(Boolean)`
    await page.evaluate(`location.hash = '#/you'`)
    await page.getByRole('button', { name: 'Stop notifications on this device' }).click()
    await page.getByRole('button', { name: 'Notify me on this device' }).waitFor()
    const subscriptions = async () => (await gateway.call('GET', '/v1/push')).body.subscriptions
    expect(await subscriptions()).toEqual([])

    // Signing out ends them too.
    await page.getByRole('button', { name: 'Notify me on this device' }).click()
    await page.getByRole('button', { name: 'Stop notifications on this device' }).waitFor()
    expect(await subscriptions()).toMatchObject([{ endpoint: device.endpoint }])
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Key of an agent or an operator').waitFor()
    expect(await subscriptions()).toEqual([])
    expect(await page.evaluate(kept)).toBe(false)

    // A gateway that refuses, or does not answer, keeps nobody signed in, and the browser takes no more.
    for (const isSilent of [false, true]) {
      await page.getByLabel('Key of an agent or an operator').fill(gateway.adminKey)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('button', { name: 'Notify me on this device' }).click()
      await page.getByRole('button', { name: 'Stop notifications on this device' }).waitFor()
      await page.route('**/v1/push', (route) => (isSilent ? undefined : route.abort()))
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByLabel('Key of an agent or an operator').waitFor()
      expect(await page.evaluate('sessionStorage.length')).toBe(0)
      await until(
        () => page.evaluate(kept),
        (isKept) => isKept === false,
      )
      await page.unroute('**/v1/push')
    }
    expect(faults).toEqual([])
  })
})
