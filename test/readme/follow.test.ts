import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePort } from '../support/process-gateway.ts'
import { until } from '../support/until.ts'
import { blocksOf } from './blocks.ts'
import { freshCopy, vendors } from './fresh-copy.ts'
import { TypedTerminal } from './typed-terminal.ts'

const documents = ['README.md', 'docs/first-steps.md']
const text = documents.map((path) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')).join('\n')
const blocks = blocksOf(text)

/** Commands that stay, and what they print once they are up. */
const staying: readonly [RegExp, RegExp][] = [
  [/npm run demo/, /until Ctrl-C/],
  [/^npm start/, /listens|http:\/\/127\.0\.0\.1/],
  [/^npx rouse listen/, /Listening to/],
  [/&& npx rouse bridge/, /connected/],
]

/** The text that the reader sees, where more than success is promised. */
const shown: readonly [RegExp, RegExp][] = [
  [/task list/, /submitted/],
  [/task move .* working/, /working/],
  [/task move .* completed/, /completed/],
  [/curl/, /"state":\s*"TASK_STATE_SUBMITTED"/],
  [/--wait/, /5 words/],
  [/rouse who/, /@donna/],
  [/rouse thread/, /The build is red/],
  [/rouse inbox/, /The build is red/],
]

const marker = crypto.randomUUID()

test('every fenced block of the README and of the first steps is one for a shell, or the picture', () => {
  const others = blocks.filter(({ language }) => language !== 'sh')
  expect(others.map(({ language }) => language)).toEqual(['mermaid'])
  expect(blocks.length).toBeGreaterThan(7)
})

test('the README and the first steps work as printed, from the first line to the last, on a fresh copy', async () => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const copy = freshCopy({ ROUSE_PORT: String(port), ROUSE_GRPC_PORT: '0', ROUSE_URL: url, README_RUN: marker })
  const terminals = new Map<number, TypedTerminal>()
  const at = (terminal: number): TypedTerminal => {
    const known = terminals.get(terminal) ?? new TypedTerminal(copy.directory, copy.env)
    terminals.set(terminal, known)
    return known
  }
  const reader = { seen: '', heard: () => '' }
  try {
    for (const { commands, terminal } of blocks) for (const command of commands) await type(command, terminal)
    expect(copy.replaced()).toEqual(['npm ci', 'npm run demo', 'npm ci', 'npm test', 'npm start'])
  } finally {
    for (const terminal of [...terminals.values()].reverse()) await terminal.interrupt()
  }
  expect(running()).toEqual([])

  async function type(printed: string, terminal: number): Promise<void> {
    const command = filled(printed, reader.seen).replace('127.0.0.1:4520', `127.0.0.1:${port}`)
    const stays = staying.find(([pattern]) => pattern.test(command))
    if (!stays) {
      const output = await at(terminal).run(command)
      reader.seen += output
      for (const [pattern, promised] of shown) if (pattern.test(command)) expect(output, command).toMatch(promised)
      const [, sent] = command.match(/rouse send \w+ "([^"]+)"/) ?? []
      if (sent) await until(reader.heard, (text) => text.includes(sent))
      return
    }
    reader.heard = await at(terminal).stay(command, stays[1])
    if (command.includes('--exec')) await wakeIt(command)
  }

  /** A task for what listens now: the vendor's program gets its text, and the task is completed. */
  async function wakeIt(command: string): Promise<void> {
    const text = `Look at "this" $(id): ${command.length}`
    const task = await send(url, copy.directory, text)
    await until(
      () => stateOf(url, copy.directory, task),
      (state) => state === 'completed',
    )
    const program = vendors.find((name) => command.includes(` ${name} `))
    if (program) expect(copy.lastRead(program)).toBe(text)
  }
})

/** Placeholders, as a reader fills them: from what was printed last. */
function filled(command: string, seen: string): string {
  const last = (pattern: RegExp): string => [...seen.matchAll(pattern)].at(-1)?.[1] ?? ''
  const text = command
    .replaceAll('<task>', last(/(?:^|[^:\w-])([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/gm))
    .replaceAll('<message>', last(/(MESSAGE:[\w-]+)/g))
  expect(text.replaceAll(/'[^']*'/g, ''), 'a placeholder that nobody fills').not.toMatch(/<\w+>/)
  return text
}

function call(url: string, directory: string, path: string, init: RequestInit = {}): Promise<Response> {
  const key = readFileSync(join(directory, '.rouse/admin.key'), 'utf8').trim()
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'A2A-Version': '1.0' }
  return fetch(url + path, { ...init, headers })
}

async function send(url: string, directory: string, text: string): Promise<string> {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] }
  const body = JSON.stringify({ message, configuration: { returnImmediately: true } })
  const response = await call(url, directory, '/agents/donna/message:send', { method: 'POST', body })
  return ((await response.json()) as { task: { id: string } }).task.id
}

async function stateOf(url: string, directory: string, task: string): Promise<unknown> {
  return ((await (await call(url, directory, `/v1/tasks/${task}`)).json()) as { state: string }).state
}

/** The processes that still run of all that the README has started. */
function running(): string[] {
  const pids = process.platform === 'linux' ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : []
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(marker)
    } catch {
      return false
    }
  })
}
