import { afterAll, describe, expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { executablePath, openPage, stopBrowser } from './browser.ts'
import { watchedMs, whileScrolling } from './frames.ts'

afterAll(stopBrowser)

const tasksMax = 10_000
const sendersMax = 32

describe.skipIf(executablePath === undefined)('with 10,000 tasks', () => {
  test('a person scrolls without stutter while events arrive, and finds every task page by page', async () => {
    await using gateway = await startGateway({ env: { ROUSE_STORM_MESSAGES: '0', ROUSE_MESSAGES_PER_MINUTE: '0' } })
    const donna = await gateway.addAgent('donna')
    await sendTasks(gateway, donna)
    const { page, faults } = await openPage(gateway, gateway.adminKey)
    for (const [name, address, text] of [
      ['needs', '#/needs', 'Review change'],
      ['board of an agent', '#/agents/%40donna', 'Review change'],
      ['tasks', '#/tasks', '50 on a page'],
      ['live log', '#/log', 'task.state_changed'],
      ['deliveries', '#/deliveries', 'One row is one wake'],
    ] as const) {
      await page.evaluate(`location.hash = ${JSON.stringify(address)}`)
      await page.getByText(text).first().waitFor()
      const frames = await whileScrolling(page, () => liveEvents(gateway, donna))
      const drawn: number = await page.evaluate('document.querySelectorAll("main *").length')
      console.log(`${name}: ${drawn} elements, frames in ms: ${JSON.stringify(frames)}`)
      expect(drawn, name).toBeLessThan(5_000)
      expect(frames.median, name).toBeLessThanOrEqual(17)
      expect(frames.blocked, name).toBeLessThan(watchedMs / 4)
    }

    await page.evaluate(`location.hash = '#/agents/%40donna'`)
    const ended = page.getByRole('region', { name: 'Ended' })
    const all = ended.getByRole('link', { name: /^completed \d,\d{3}$/ })
    const [count] = /[\d,]+/.exec((await all.textContent())!)!
    expect(await ended.getByRole('listitem').count()).toBe(20)
    await all.click()
    await page.getByText(`${count} tasks`).waitFor()
    const first = await page.getByRole('main').getByRole('link').first().textContent()
    await page.getByRole('button', { name: 'Look further' }).click()
    await page.getByRole('button', { name: 'Back to the beginning' }).waitFor()
    expect(await page.getByRole('main').getByRole('link').first().textContent()).not.toBe(first)
    expect(await page.getByRole('listitem').count()).toBe(50)
    expect(faults).toEqual([])
  })
})

async function sendTasks(gateway: TestGateway, donna: TestAgent): Promise<void> {
  let next = 0
  const sender = async () => {
    while (next < tasksMax) {
      const n = next++
      const { id } = await gateway.send('donna', `Review change ${n} of the parser, and say what is missing.`)
      if (n % 4 === 0) await gateway.move(donna, id, 'completed', { message: 'Done.' })
      else if (n % 40 === 1) await gateway.move(donna, id, 'input-required', { message: `Which branch of ${n}?` })
    }
  }
  await Promise.all(Array.from({ length: sendersMax }, sender))
}

/** Twenty events a second, until the signal aborts. */
async function liveEvents(gateway: TestGateway, donna: TestAgent): Promise<void> {
  const until = Date.now() + watchedMs
  for (let n = 0; Date.now() < until; n++) {
    const { id } = await gateway.send('donna', `Live ${n}`)
    await gateway.move(donna, id, 'working')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
