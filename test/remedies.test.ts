import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { buildProgram } from '../src/cli/run/run.ts'
import { detailFor, Problem } from '../src/errors.ts'
import { operatorTools } from '../src/fronts/mcp/operator/table.ts'
import { tools } from '../src/fronts/mcp/tools/table.ts'
import type { AnyTool } from '../src/fronts/mcp/tools/tool.ts'
import { problemBody } from '../src/fronts/problem-body.ts'
import { restTable } from '../src/fronts/rest/table.ts'
import { subscriptionChanges } from '../src/fronts/rest/wake-subscriptions/input.ts'
import { type Remedy, remedies } from '../src/remedies.ts'

/** Values for the sentences of all remedies. */
const values = {
  ...{ agent: '@donna', contextId: 'c1', known: 'task.created', limit: 'owned', limitName: 'requestsPerMinute' },
  ...{ max: 5, subscriptionId: 'WAKE_SUB:1', taskId: 't1' },
}

const all: readonly (readonly [key: string, remedy: Remedy])[] = Object.entries(remedies).map(([key, remedy]) => [
  key,
  typeof remedy === 'function' ? remedy(values) : remedy,
])

const overHttp = /\b(GET|POST|PUT|PATCH|DELETE) [/{…]|\/v1\//

test('an HTTP sentence names only routes that exist', () => {
  const wrong: string[] = []
  let count = 0
  for (const [key, { http }] of all) {
    for (const [call, method, path] of http.matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/v1\/[\w/{}@-]+)/g)) {
      count++
      if (!restTable.match(method!, path!)) wrong.push(`${key}: ${call}`)
    }
    for (const [, end] of http.matchAll(/…(\/\w+)/g)) {
      count++
      if (!restTable.routes.some(({ route }) => route.endsWith(end!))) wrong.push(`${key}: ${end}`)
    }
    // A change of the subscription that the request names.
    for (const [, change] of http.matchAll(/PATCH (\{.*?\})/g)) {
      count++
      if (!subscriptionChanges.safeParse(JSON.parse(change!)).success) wrong.push(`${key}: ${change}`)
    }
  }
  expect(wrong).toEqual([])
  expect(count).toBeGreaterThan(15)
})

const placeholders: Readonly<Record<string, string>> = {
  list: 'read',
  number: '1',
  pid: '1',
  instant: '2026-04-26T10:00:00Z',
}

/** What is wrong with a command line; undefined: nothing. Arguments may be left out. */
function flawOf(program: Command, line: string): string | undefined {
  let command = program
  const words = line.replace(/<([\w-]+)>/g, (_, name: string) => placeholders[name] ?? 'x').split(' ')
  for (words.shift(); words.length > 0; words.shift()) {
    const next = command.commands.find((one) => one.name() === words[0])
    if (!next) break
    command = next
  }
  if (command === program) return `there is no command: ${line}`
  const { operands, unknown } = command.parseOptions(words)
  if (unknown.length > 0) return `there is no option ${unknown[0]}: ${line}`
  const most = command.commands.length > 0 ? 0 : command.registeredArguments.length
  return operands.length > most ? `there are too many arguments: ${line}` : undefined
}

test('a sentence for a terminal names only commands that exist, and no route', async () => {
  const program = await buildProgram({ stdout() {}, stderr() {}, env: {} })
  const wrong: string[] = []
  let count = 0
  for (const [key, { http, cli, tool }] of all) {
    for (const text of [http, cli, ...(typeof tool === 'string' ? [tool] : Object.values(tool))]) {
      for (const [, line] of text.matchAll(/`(rouse [^`]+)`/g)) {
        count++
        const flaw = flawOf(program, line!)
        if (flaw !== undefined) wrong.push(`${key}: ${flaw}`)
      }
    }
    if (overHttp.test(cli)) wrong.push(`${key} speaks HTTP: ${cli}`)
    if (/(?<!`)rouse /.test(cli)) wrong.push(`${key} has a command without backticks: ${cli}`)
  }
  expect(wrong).toEqual([])
  expect(count).toBeGreaterThan(30)
  expect(flawOf(program, 'rouse sub mend x')).toMatch(/too many arguments/)
  expect(flawOf(program, 'rouse sub update x --mend')).toMatch(/no option --mend/)
})

/** The remedies of which a model has to know a command: only its user can run it. */
const byUser = ['connect-reader']

test.each<[language: 'agent' | 'operator', known: readonly AnyTool[]]>([
  ['agent', tools],
  ['operator', operatorTools],
])('a sentence for the tools of an %s names only tools and actions that exist', (language, known) => {
  const wrong: string[] = []
  let count = 0
  for (const [key, { tool }] of all) {
    const text = typeof tool === 'string' ? tool : tool[language]
    const named = [...text.matchAll(/\b[a-z]+_[a-z_]+\b|(?<=\b[Tt]ool )\w+/g)].map(([name]) => name)
    count += named.length
    wrong.push(...named.filter((name) => !known.some((one) => one.name === name)).map((name) => `${key}: ${name}`))
    for (const [, name, action] of text.matchAll(/(\w+) with the action (\w+)/g)) {
      const input = known.find((one) => one.name === name)?.input.shape.action
      if (!input?.safeParse(action).success) wrong.push(`${key}: ${name} has no action ${action}`)
    }
    if (overHttp.test(text) || (/rouse /.test(text) && !byUser.includes(key))) wrong.push(`${key}: ${text}`)
  }
  expect(wrong).toEqual([])
  expect(count).toBeGreaterThan(5)
})

const src = resolve(import.meta.dirname, '../src')
const sources = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && file !== 'remedies.ts')
  .map((file) => ({ file, text: readFileSync(resolve(src, file), 'utf8') }))

/** The calls of a function in a source text, with their arguments. */
function* callsOf(text: string, name: RegExp): Generator<string> {
  for (const { index } of text.matchAll(name)) {
    let depth = 0
    let end = text.indexOf('(', index)
    do depth += { '(': 1, ')': -1 }[text[end]!] ?? 0
    while (depth > 0 && ++end < text.length)
    yield text.slice(index, end)
  }
}

test('no refusal has a route or a command outside of the table', () => {
  const found = sources.flatMap(({ file, text }) =>
    [...callsOf(text, /(new Problem|super|limitExceeded|requireRoom)\(/g)].map((call) => ({ file, call })),
  )
  expect(found.length).toBeGreaterThan(200)
  expect(found.filter(({ call }) => overHttp.test(call) || /`rouse [a-z]/.test(call))).toEqual([])
})

test('every remedy is the remedy of a refusal', () => {
  const used = sources.map(({ text }) => text).join('\n')
  expect(Object.keys(remedies).filter((key) => !used.includes(`'${key}'`))).toEqual([])
})

test('a problem says its remedy over HTTP, and has its key and its values for others', () => {
  const extra = { subscriptionId: 'WAKE_SUB:1' }
  const problem = new Problem('subscription-paused', { detail: 'It is paused.', remedy: 'activate', extra })
  expect(problem.message).toBe('It is paused. Make it active first: PATCH {"status":"active"}.')
  const body = { ...problemBody(problem, '/') }
  expect(body).toMatchObject({ detail: problem.message, remedy: 'activate', ...extra })
  expect(detailFor(body, ({ cli }) => cli)).toBe(
    'It is paused. Make it active first: `rouse sub update WAKE_SUB:1 --status active`.',
  )
  // A front that adds members to a problem says nothing twice.
  const again = new Problem(problem.code, { detail: problem.message, extra: { ...problem.extra, more: 1 } })
  expect(problemBody(again, '/')).toEqual({ ...body, more: 1 })
  expect(new Problem('unauthenticated', { remedy: 'send-key' }).message).toMatch(/^Send the header `Authorization/)
})

test.each([
  ['of a gateway that sends no key', { detail: 'No. List them: GET /v1/operator-keys.' }],
  ['with a key that is not known here', { detail: 'No. Do it: POST /v1/x.', remedy: 'do-it' }],
  ['with a key that every object has', { detail: 'No.', remedy: 'constructor' }],
  ['in other words than those of here', { detail: 'No. Look at GET /v1/operator-keys.', remedy: 'list-operator-keys' }],
  ['without its value', { detail: 'No. The operator may raise owned for the project: …', remedy: 'raise-limit' }],
])('a remedy %s stays as the gateway has said it', (_, problem) => {
  expect(detailFor(problem, ({ cli }) => cli)).toBe(problem.detail)
})

test('a remedy has all languages, and a problem the values of its sentence', () => {
  // @ts-expect-error it has no sentence for tools.
  const incomplete: Remedy = { http: 'GET /v1/needs.', cli: '`rouse needs`.' }
  // @ts-expect-error it names no subscription.
  const unnamed = () => new Problem('subscription-paused', { remedy: 'activate' })
  expect([incomplete, unnamed]).toHaveLength(2)
})
