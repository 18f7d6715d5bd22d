#!/usr/bin/env node
// Draws the icons of the page for phones from page/icon.svg, with the browser of this machine ($CHROMIUM, or /usr/bin/chromium).
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const folder = fileURLToPath(new URL('../page/', import.meta.url))
const svg = readFileSync(`${folder}icon.svg`, 'utf8')
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
})
for (const size of [192, 512]) {
  const page = await browser.newPage({ viewport: { width: size, height: size } })
  // The corners are filled, so that a phone can cut the icon in its own form.
  await page.setContent(
    `<style>body{margin:0;background:#1b5e4b}svg{display:block;width:100vw;height:100vh}</style>${svg}`,
  )
  await page.screenshot({ path: `${folder}icon-${size}.png` })
}
await browser.close()
