import type { Page } from 'playwright-core'
import { afterAll, describe, expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { executablePath, openPage, stopBrowser } from './browser.ts'

afterAll(stopBrowser)

const tasksMax = 10_000
const sendersMax = 32
const watchedMs = 4_000

/** The frames of a time in which somebody scrolls and events arrive. */
interface Frames {
  readonly count: number
  /** ms from one frame to the next. */
  readonly median: number
  readonly late: number
  readonly longest: number
  /** ms in which a script of the page held the browser for more than 50 ms at a time. */
  readonly blocked: number
}

describe.skipIf(executablePath === undefined)('with 10,000 tasks', () => {
  test('a person scrolls without stutter while events arrive, and finds every task page by page', async () => {
    await using gateway = await startGateway({ env: { ROUSE_STORM_MESSAGES: '0', ROUSE_MESSAGES_PER_MINUTE: '0' } })
    const donna = await gateway.addAgent('donna')
    await sendTasks(gateway, donna)
    const { page, faults } = await openPage(gateway, gateway.adminKey)
    for (const [name, address, text] of [
      ['needs', '#/needs', 'Which branch'],
      ['board of an agent', '#/agents/%40donna', 'Review change'],
      ['tasks', '#/tasks', '50 on a page'],
      ['live log', '#/log', 'task.state_changed'],
    ] as const) {
      await page.evaluate(`location.hash = ${JSON.stringify(address)}`)
      await page.getByText(text).first().waitFor()
      const frames = await whileScrolling(page, () => liveEvents(gateway, donna))
      const drawn: number = await page.evaluate('document.querySelectorAll("main *").length')
      console.log(`${name}: ${drawn} elements, frames in ms: ${JSON.stringify(frames)}`)
      expect(drawn, name).toBeLessThan(5_000)
      expect(frames.median, name).toBeLessThan(34)
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
    await page.getByRole('button', { name: 'Look further back' }).click()
    await page.getByRole('button', { name: 'Back to the newest' }).waitFor()
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

async function whileScrolling(page: Page, act: () => Promise<void>): Promise<Frames> {
  await page.evaluate(`(() => {
    const seen = { frames: [], blocked: 0, isOver: false }
    globalThis.seen = seen
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) seen.blocked += duration
    }).observe({ type: 'longtask' })
    let last
    let down = true
    const frame = (now) => {
      if (last !== undefined) seen.frames.push(now - last)
      last = now
      const { scrollTop, scrollHeight, clientHeight } = document.documentElement
      if (scrollTop + clientHeight >= scrollHeight - 1) down = false
      if (scrollTop <= 0) down = true
      scrollBy(0, down ? 40 : -40)
      if (!seen.isOver) requestAnimationFrame(frame)
    }
    requestAnimationFrame(frame)
  })()`)
  await act()
  const { frames, blocked } = (await page.evaluate('(seen.isOver = true, seen)')) as {
    frames: number[]
    blocked: number
  }
  const sorted = [...frames].sort((one, other) => one - other)
  const at = (part: number) => Math.round(sorted[Math.floor((sorted.length - 1) * part)]! * 10) / 10
  return { count: frames.length, median: at(0.5), late: at(0.95), longest: at(1), blocked: Math.round(blocked) }
}
