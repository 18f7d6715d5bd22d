import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { envToConfig } from '../../src/config.ts'

const read = (path: string): string => readFileSync(resolve(import.meta.dirname, '../..', path), 'utf8')
const dockerfile = read('Dockerfile')
const compose = read('compose.yaml')
const example = read('deploy/.env.example')

test('a build is given what the Dockerfile copies, and nothing else', () => {
  const ignore = read('.dockerignore')
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names]) => names!.split(' '))
  expect(ignore[0]).toBe('*')
  expect(ignore.slice(1).sort()).toEqual([...new Set(copied)].map((name) => `!${name}`).sort())
})

test('the image runs without privileges and holds no secret', () => {
  expect(dockerfile.match(/^USER .+$/gm)).toEqual(['USER node'])
  expect(dockerfile).not.toMatch(/_KEY|PASSWORD|DATABASE_URL/)
  expect(compose.match(/(KEY|PASSWORD): \$\{\w+:\?/g)).toHaveLength(3)
})

test('the example names every variable of compose.yaml, and sets no secret', () => {
  const used = new Set([...compose.matchAll(/\$\{(\w+)/g)].map(([, name]) => name!))
  const named = [...example.matchAll(/^(\w+)=(.*)$/gm)]
  expect(named.map(([, name]) => name!).sort()).toEqual([...used].sort())
  expect(named.filter(([, name]) => /_KEY$|PASSWORD/.test(name!)).map(([, , value]) => value)).toEqual(['', '', ''])
})

test('the environment of the gateways is one that a gateway takes', () => {
  const secret = 'a'.repeat(43)
  const given: Record<string, string> = { ROUSE_ENCRYPTION_KEY: `${secret}=` }
  for (const [, name, value] of example.matchAll(/^(\w+)=(.*)$/gm)) given[name!] ??= value || secret
  const gateway = compose.slice(compose.indexOf('environment:'), compose.indexOf('services:'))
  const lines = [...gateway.matchAll(/^ {4}(ROUSE_\w+): (.*)$/gm)].map(([, name, value]) => [
    name,
    value!.replace(/\$\{(\w+)[^}]*\}/g, (_all, variable: string) =>
      variable === 'ROUSE_BUS_URL' ? '' : given[variable]!,
    ),
  ])
  expect(envToConfig(Object.fromEntries(lines)).databaseUrl).toBe(`postgres://rouse:${secret}@postgres:5432/rouse`)
})
