import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { pagePath, renderPage, rows } from './docs/page.ts'

test('docs/metrics.md is what `npm run metrics:docs` writes', () => {
  expect(readFileSync(pagePath, 'utf8')).toBe(renderPage())
})

test('a series has a unit or a count in its name, and few labels', () => {
  for (const { name, kind, labels } of rows) {
    expect(name).toMatch(/^rouse_[a-z_]+$/)
    expect(name.endsWith('_total')).toBe(kind === 'counter')
    expect(labels.length).toBeLessThanOrEqual(2)
  }
})
