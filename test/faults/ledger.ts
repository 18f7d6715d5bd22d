import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import type { Row } from './account.ts'

const columns = ['accepted', 'delivered', 'failed', 'requests', 'repeats'] as const

type Totals = Readonly<Record<(typeof columns)[number], number>>

/** The books of one test. */
interface Ledger {
  readonly title: string
  readonly rows: readonly Row[]
}

/** Prints what each subscription was owed and got, those of one name together, and keeps it for the summary of the run. */
export function printLedger(title: string, rows: readonly Row[], notes: readonly string[] = []): void {
  const names = [...new Set(rows.map(({ subscription }) => subscription))]
  const lines = names.map((name) =>
    line(
      name,
      rows.filter(({ subscription }) => subscription === name),
    ),
  )
  print(title, table('subscription', lines), notes)
  const kept = process.env.FAULTS_LEDGER
  if (kept) appendFileSync(kept, `${JSON.stringify({ title, rows } satisfies Ledger)}\n`)
}

/** Prints all the books that a run kept in a file, a line for each test, and what repeats the run. */
export function printSummary(file: string, seed: number): void {
  const text = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
  const ledgers = text
    .split('\n')
    .filter(Boolean)
    .map((line): Ledger => JSON.parse(line))
  const lines = ledgers.map(({ title, rows }) => line(title, rows))
  const all = line(
    'all',
    ledgers.flatMap(({ rows }) => rows),
  )
  print(`The books of this run`, table('test', [...lines, all]), [
    `FAULTS_SEED=${seed} npm run test:faults runs it again`,
  ])
}

interface Line {
  readonly name: string
  readonly totals: Totals
  readonly faultCount: number
}

function line(name: string, rows: readonly Row[]): Line {
  const sum = (value: (row: Row) => number) => rows.reduce((total, row) => total + value(row), 0)
  const totals = Object.fromEntries(columns.map((column) => [column, sum((row) => row[column])])) as Totals
  return { name, totals, faultCount: sum(({ faults }) => faults.length) }
}

function table(first: string, lines: readonly Line[]): string[] {
  const width = Math.max(first.length, ...lines.map(({ name }) => name.length))
  const cells = (name: string, values: readonly (string | number)[]) =>
    name.padEnd(width) + values.map((value) => String(value).padStart(11)).join('')
  const verdict = (faultCount: number) => (faultCount === 0 ? 'ok' : `${faultCount} faults`)
  return [
    cells(first, [...columns, 'verdict']),
    ...lines.map(({ name, totals, faultCount }) =>
      cells(name, [...columns.map((column) => totals[column]), verdict(faultCount)]),
    ),
  ]
}

function print(title: string, lines: readonly string[], notes: readonly string[]): void {
  console.log([`\n${title}`, ...[...lines, ...notes].map((text) => `  ${text}`), ''].join('\n'))
}
