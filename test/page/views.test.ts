import { afterAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { executablePath, isTooWide, openPage, stopBrowser, violationsIn } from './browser.ts'
import { openOffice } from './office.ts'

afterAll(stopBrowser)

const shots = process.env.SHOTS
const phone = { viewport: { width: 360, height: 740 } }

describe.skipIf(executablePath === undefined)('every view', () => {
  test.each([
    { name: 'on a desk', options: {} },
    { name: 'on a phone in the dark', options: { ...phone, colorScheme: 'dark' as const } },
  ])('is readable $name, and without a flaw of accessibility', async ({ name, options }) => {
    await using gateway = await startGateway()
    const office = await openOffice(gateway)
    const thread = await anyThread(gateway)
    const { page, faults, asked } = await openPage(gateway, gateway.adminKey, options)
    const places = {
      needs: ['#/needs', 'Which environment'],
      agents: ['#/agents', '@cody'],
      agent: ['#/agents/%40donna', 'Subscriptions'],
      tasks: ['#/tasks', 'Review the parser.'],
      task: [`#/tasks/${office.working}`, 'I read it now.'],
      deliveries: ['#/deliveries', '410'],
      thread: [`#/threads/${encodeURIComponent(thread)}`, 'Tests are red.'],
      write: ['#/write?to=%40donna', 'Send as a task'],
      log: ['#/log', 'agent.created'],
      figures: ['#/figures', 'Wakes a minute'],
    }
    for (const [view, [address, text]] of Object.entries(places)) {
      await page.evaluate(`location.hash = ${JSON.stringify(address)}`)
      await page.getByText(text!).first().waitFor()
      if (shots) await page.screenshot({ path: `${shots}/${view}-${name.replaceAll(' ', '-')}.png`, fullPage: true })
      expect(await isTooWide(page), view).toBe(false)
      expect(await violationsIn(page), view).toEqual([])
    }
    expect(faults).toEqual([])
    expect(asked).toEqual([])
  })
})

async function anyThread(gateway: TestGateway): Promise<string> {
  const { body } = await gateway.call('GET', '/v1/inbox?agent=lola')
  return body.messages[0].threadId
}
