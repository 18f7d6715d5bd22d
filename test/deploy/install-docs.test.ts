import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { run } from '../cli/terminal.ts'

const page = readFileSync(new URL('../../docs/install.md', import.meta.url), 'utf8')
/** The indented lines: what a reader types. */
const typed = page.split('\n').filter((line) => line.startsWith('    '))

test('every way to install ends with a gateway and a first agent', () => {
  const ways = page.split('\n## ').slice(1)
  for (const way of ['From git', 'From a tarball', 'Globally', 'As a service', 'In a container', 'Several gateways']) {
    const text = ways.find((section) => section.startsWith(way)) ?? ''
    expect(text, way).toMatch(/agent add donna/)
  }
})

test('every command of rouse that it names exists', async () => {
  const commands = typed.flatMap((line) => [
    ...line.matchAll(/(?:rouse|main\.js) ((?:serve|demo|health|agent add)\b)/g),
  ])
  const named = [...new Set(commands.map(([, command = '']) => command))]
  expect(named.length).toBeGreaterThan(2)
  for (const command of named) {
    const { code, stdout } = await run([...command.split(' '), '--help'])
    expect([command, code, stdout.length > 100]).toEqual([command, 0, true])
  }
})

test('a gateway that listens everywhere is started with its public address, in every document', () => {
  const pages = new URL('../../docs/operations/', import.meta.url)
  const operations = readdirSync(pages).map((name) => readFileSync(new URL(name, pages), 'utf8'))
  const all = [page, ...operations].join('\n').replace(/\\\n\s*/g, '')
  for (const [command] of all.matchAll(/docker run [^\n]*/g)) {
    expect(command).toContain('-e ROUSE_PUBLIC_URL=')
  }
})
