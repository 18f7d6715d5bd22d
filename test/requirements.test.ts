import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const page = readFileSync(resolve(root, 'docs/requirements.md'), 'utf8')
const listed = [...page.matchAll(/^\| ((?:S[1-4]-|D)[0-9]+) \| /gm)].map(([, number = '']) => number)

test('docs/requirements.md has every requirement that a comment or the title of a test cites', () => {
  const cited = citations('src', 'test')
  expect(cited.size).toBeGreaterThan(90)
  const missing = [...cited].filter(([number]) => !listed.includes(number))
  expect(missing.map(([number, path]) => `${number} in ${path}`)).toEqual([])
})

test('each number once, and each group without a gap', () => {
  for (const group of ['S1-', 'S2-', 'S3-', 'S4-', 'D']) {
    const numbers = listed.filter((number) => number.startsWith(group))
    expect(numbers.length).toBeGreaterThan(10)
    expect(numbers).toEqual(numbers.map((_, index) => `${group}${index + 1}`))
  }
})

/** The numbers that have no test of their own: reasons, what is measured or configured, and what is not built. Of S3 the programs have tests. */
const untested = /^(S1-(2|3|5|6|30|35)|S2-1[57]|S3-\d+|D(13|42|5[01]))$/

test('a test cites each other number', () => {
  const cited = citations('test')
  expect(listed.filter((number) => !cited.has(number) && !untested.test(number))).toEqual([])
})

test('the numbers that the page itself names are in it', () => {
  const named = [...page.matchAll(/\b(?:S[0-9]-|D)[0-9]+\b/g)].map(([number]) => number)
  expect(named.filter((number) => !listed.includes(number))).toEqual([])
})

/** The cited numbers, each with a file that cites it. Code and the data of tests may have words that look like numbers. */
function citations(...folders: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const folder of folders) {
    for (const path of readdirSync(resolve(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!path.endsWith('.ts')) continue
      for (const words of wordsOf(readFileSync(resolve(root, folder, path), 'utf8'))) {
        for (const [number] of words.matchAll(/\b(?:S[0-9]-|D)[0-9]+\b/g)) found.set(number, `${folder}/${path}`)
      }
    }
  }
  return found
}

/** The comments of a file, and the titles of its tests. */
function wordsOf(code: string): string[] {
  return code.match(/^ *\/?\*.*$|(?<![:'"`\w])\/\/ .*$|^ *(?:test|describe)\b.*$/gm) ?? []
}
