import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import type { TestGateway } from '../support/gateway.ts'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** The browser of this machine; undefined: there is none. */
export const executablePath = [process.env.CHROMIUM, ...places].find((path) => path !== undefined && existsSync(path))

if (executablePath === undefined) {
  console.warn(`The tests of the page are skipped: no browser at ${places.join(', ')}, nor at $CHROMIUM.`)
}

let started: Promise<Browser> | undefined

/** Starts the browser once for a test file. As root, as in CI, it has no sandbox of its own. */
function startBrowser(): Promise<Browser> {
  started ??= chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox', '--disable-quic'] })
  return started
}

export async function stopBrowser(): Promise<void> {
  await (await started)?.close()
}

/** A tab with the page of a gateway, and everything that went wrong in it. */
interface Tab {
  readonly page: Page
  /** Errors of scripts, and what the policy has refused. */
  readonly faults: readonly string[]
  /** The addresses outside of the gateway that it has asked. */
  readonly asked: readonly string[]
}

/** Opens the page, or a link to it, in a browser of its own. With a key it signs in. */
export async function openPage(
  gateway: Pick<TestGateway, 'url'>,
  key?: string,
  { link, ...options }: BrowserContextOptions & { readonly link?: string } = {},
): Promise<Tab> {
  const context = await (await startBrowser()).newContext({ viewport: { width: 1280, height: 900 }, ...options })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  const faults: string[] = []
  const asked: string[] = []
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('console', (message) => {
    // An answer of 401 or 409 is a line there too.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) faults.push(message.text())
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(gateway.url)) asked.push(request.url())
  })
  await page.goto(link ?? `${gateway.url}/`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  if (key !== undefined) {
    await page.getByLabel('Key of an agent or an operator').fill(key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('navigation').waitFor()
  }
  return { page, faults, asked }
}

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** Returns what an automated check of accessibility finds in a page: `rule: element`. */
export async function violationsIn(page: Page): Promise<string[]> {
  // The policy of the page allows no script but its own, so the check comes in by the protocol of the browser.
  const { readFile } = await import('node:fs/promises')
  await page.evaluate(await readFile(axe, 'utf8'))
  const found = await page.evaluate(async () => {
    // @ts-expect-error the script above has set it
    const { violations } = await globalThis.axe.run()
    return violations.map(({ id, nodes }: { id: string; nodes: { html: string }[] }) => `${id}: ${nodes[0]!.html}`)
  })
  return found as string[]
}

/** True when a page can be scrolled sideways. */
export function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')
}
