import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { vendored } from '../../../scripts/vendor-page.mjs'
import { startGateway, type TestGateway } from '../../support/gateway.ts'

const folder = resolve(import.meta.dirname, '../../../page')
const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((file) => file.isFile())
  .map(({ parentPath, name }) => `${parentPath}/${name}`.slice(folder.length + 1))

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway[Symbol.asyncDispose]())

const open = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  gateway.call(method, path, undefined, { key: null, headers })

test('the page is served without a key, and may load and ask nothing but its gateway', async () => {
  const { status, headers, body } = await open('/')
  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(body).toContain('<script type="module" src="/page/main.js">')
  const policy = headers.get('content-security-policy')!.split('; ')
  expect(policy).toContain("default-src 'none'")
  for (const kind of ['script', 'style', 'connect', 'img', 'manifest', 'worker'])
    expect(policy).toContain(`${kind}-src 'self'`)
  for (const kind of ['base-uri', 'form-action', 'frame-ancestors']) expect(policy).toContain(`${kind} 'none'`)
  expect(policy).toContain("require-trusted-types-for 'script'")
  expect(policy.join()).not.toMatch(/unsafe|data:|blob:|\*/)
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
  expect(headers.get('set-cookie')).toBe(null)
})

test.each(files)('%s is served as what it is, and not sent again while it is the same', async (file) => {
  const path = file === 'index.html' ? '/' : `/page/${file}`
  const { status, headers } = await open(path)
  expect(status).toBe(200)
  const types = {
    html: 'text/html',
    js: 'text/javascript',
    css: 'text/css',
    svg: 'image/svg+xml',
    png: 'image/png',
    webmanifest: 'application/manifest+json',
  }
  expect(headers.get('content-type')).toContain(types[file.split('.').pop() as keyof typeof types])
  expect((await open(path, { 'if-none-match': headers.get('etag')! })).status).toBe(304)
  // No address of any other host, no markup from texts.
  const text = readFileSync(resolve(folder, file), 'utf8')
  if (!file.startsWith('vendor/')) expect(text.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:\/\//)
  if (!file.startsWith('vendor/')) expect(text).not.toMatch(/innerHTML|insertAdjacentHTML|unsafeHTML|\beval\(|style="/)
})

test.each([
  '/page/../package.json',
  '/page/..%2Fpackage.json',
  '/page/%2e%2e/package.json',
  '/page/constructor',
  '/page/views/..',
  '/page/nothing.js',
  '/page/',
])('no other file is read: %s', async (path) => {
  expect((await open(path)).status).toBe(404)
})

test('the page changes nothing: it has GET and HEAD only', async () => {
  expect((await open('/', {}, 'HEAD')).status).toBe(200)
  for (const method of ['POST', 'PUT', 'DELETE']) {
    const { status, headers } = await open('/', {}, method)
    expect(status).toBe(405)
    expect(headers.get('allow')).toBe('GET, HEAD, OPTIONS')
  }
})

test('the library of the page is the one of the lock file', async () => {
  expect(readFileSync(resolve(folder, 'vendor/lit.js'), 'utf8')).toBe(await vendored())
})
