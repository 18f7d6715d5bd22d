import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect } from 'vitest'
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts'
import { startProcessGateway } from '../support/process-gateway.ts'
import { until } from '../support/until.ts'
import { prepareClaude } from './claude-config.ts'
import { type Reply, startFakeModel } from './fake-model.ts'
import { openOffice } from './office.ts'
import { Terminal } from './terminal.ts'

const rouse = resolve(import.meta.dirname, '../../dist/main.js')
const startMaxMs = 60_000
const triesMax = 4
/** The wait in which a second turn for the same end would come, in ms. */
export const quietMs = 2_500

export type TaskDesk = Awaited<ReturnType<typeof openTaskDesk>>

interface SentTask {
  readonly id: string
  readonly state: string
}

/**
 * A user of Claude Code whose configuration has the entry of `rouse mcp`, and nothing else of Rouse: no hook, no plugin, no bridge. Its model sends
 * a task to @eve for each prompt with `SEND`, waits for mail where it says `WAIT`, holds its turn where it says `HOLD`, asks for its tasks where it
 * says `LIST`, and reads its mail where it says `READ`, or when it is notified.
 */
export async function openTaskDesk(claude: string) {
  const office = await openOffice(() => startProcessGateway())
  const { gateway } = office
  const eve = await gateway.addAgent('@eve')
  const holding: (() => void)[] = []
  let held = 'HOLD'
  /** The prompts of the turns of the model, with their time. */
  const turns: { readonly prompt: string; readonly at: number }[] = []
  const model = await startFakeModel(async ({ body }) => {
    const { prompt, results } = turnOf(body)
    if (results.length === 0) turns.push({ prompt, at: performance.now() })
    if (prompt.includes(held) && results.length === 0) await new Promise<void>((done) => holding.push(done))
    return replyTo(prompt, results)
  })
  prepareClaude(office, claude, model.url)
  const state = JSON.parse(office.read('claude/.claude.json')) as JsonObject
  const entry = { type: 'stdio', command: process.execPath, args: [rouse, 'mcp', '--profile', office.profile] }
  office.write('claude/.claude.json', JSON.stringify({ ...state, mcpServers: { rouse: entry } }, null, 2))
  office.write('claude/settings.json', JSON.stringify({ permissions: { allow: ['mcp__rouse'] } }))
  const terminals: Terminal[] = []
  /** The last connection to `rouse mcp`, as it has noted it. */
  const connection = (): { readonly era: string; readonly at: string } | undefined => {
    const path = office.at('.config/rouse/connections', `${office.profile}.json`)
    return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).claude_code : undefined
  }
  const say = (method: string, path: string, body?: unknown) => gateway.call(method, path, body, { key: eve.key })
  const tasks = async (): Promise<SentTask[]> => (await say('GET', '/v1/tasks?pageSize=100')).body.tasks
  return {
    office,
    gateway,
    eve,
    turns,
    holding,
    requests: model.requests,
    /** Has the model hold the turns whose prompt has a text. */
    hold: (text: string) => {
      held = text
    },
    /** Opens a conversation. Where the machine is so busy that the server answers late, Claude Code takes the older protocol, which has no tasks. */
    open: async (...argv: string[]): Promise<Terminal> => {
      for (let left = triesMax; ; left--) {
        const before = connection()?.at
        const terminal = new Terminal(
          [claude, '--permission-mode', 'default', ...argv],
          office.at('project'),
          office.env,
        )
        terminals.push(terminal)
        await terminal.shows('❯', startMaxMs)
        const now = await until(connection, (known) => known !== undefined && known.at !== before, startMaxMs)
        if (now!.era === '2026' || left === 1) return terminal
        console.log('Claude Code has taken the protocol of 2025: it is opened again')
        await terminal[Symbol.asyncDispose]()
        terminals.pop()
      }
    },
    /** The open task of @eve, when it is there. */
    openTask: async (): Promise<SentTask> =>
      (await until(tasks, (all) => all.some(({ state }) => state === 'submitted'), startMaxMs)).find(
        ({ state }) => state === 'submitted',
      )!,
    followers: async (): Promise<JsonObject[]> =>
      (await gateway.call('GET', '/v1/followers', undefined, { key: office.agent.key })).body.followers,
    /** The account of turns of @donna. */
    account: async (): Promise<JsonObject[]> =>
      (await gateway.call('GET', '/v1/turns', undefined, { key: office.agent.key })).body.turns,
    complete: async (id: string, message: string) => {
      const { body } = await say('GET', `/v1/tasks/${id}`)
      const { status } = await say('POST', `/v1/tasks/${id}/transitions`, {
        to: 'completed',
        expectedVersion: body.version,
        message,
      })
      if (status !== 200) throw new Error(`complete: ${status}`)
      return performance.now()
    },
    /** Mail from @eve; returns its id. */
    send: async (subject: string): Promise<string> =>
      (await say('POST', '/v1/messages', { to: '@donna', subject, wakePolicy: 'immediate' })).body.messageId,
    /** Resolves when the model has taken a message on. */
    acked: async (messageId: string): Promise<void> => {
      const read = async () => (await say('GET', `/v1/messages/${messageId}`)).body.recipients[0].status
      await until(read, (status) => status === 'acked', 30_000)
    },
    /** Lets turns go on that the model holds. */
    release: () => {
      held = 'HOLD'
      for (const done of holding.splice(0)) done()
    },
    /** Resolves with the turns that began with a text, when there is one. */
    turnWith: async (text: string, timeoutMs = 30_000) =>
      until(
        () => turns.filter(({ prompt }) => prompt.includes(text)),
        ({ length }) => length > 0,
        timeoutMs,
        20,
      ).catch((error) => {
        const look = [
          ...turns.map(({ prompt }) => prompt.slice(0, 600)),
          ...terminals.filter(({ pid }) => existsSync(`/proc/${pid}`)).map((one) => one.text),
        ].join('\n')
        throw new Error(`${error.message}\n${look}`)
      }),
    profile: () => JSON.parse(readFileSync(office.at('.config/rouse/profiles.json'), 'utf8')),
    async [Symbol.asyncDispose]() {
      for (const done of holding.splice(0)) done()
      await model[Symbol.asyncDispose]()
      for (const terminal of terminals) await terminal[Symbol.asyncDispose]()
      await office[Symbol.asyncDispose]()
    },
  }
}

/** Has the model send a task. Returns its id when the turn is over. */
export async function sent(desk: TaskDesk, terminal: Terminal, word: string): Promise<string> {
  await terminal.type(`SEND ${word}`)
  const { id } = await desk.openTask()
  await followed(desk, terminal, id)
  return id
}

/** Resolves when a task is polled for (null: the next mail), and the turn is over and written down: a kill loses what is in memory alone. */
export async function followed(desk: TaskDesk, terminal: Terminal, id: string | null): Promise<void> {
  // One that was never polled has the time when it began.
  const isFollowed = (one: JsonObject) => one.taskId === id && one.isPolled && one.polledAt !== one.createdAt
  await until(desk.followers, (all) => all.some(isFollowed))
  await until(
    () => terminal.text,
    (screen) => !/esc to interrupt/.test(screen),
  )
  await until(() => isWritten(desk, id === null ? 'wait_for_messages' : 'send_task'), Boolean)
}

/** True when the files of Claude Code have each turn that began something, and a record of what a tool began. */
function isWritten({ office, turns }: TaskDesk, tool: string): boolean {
  const directory = office.at('claude/projects')
  if (!existsSync(directory)) return false
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  const written = (end: string) =>
    names.filter((name) => name.endsWith(end)).map((name) => readFileSync(resolve(directory, name), 'utf8'))
  const begun = turns.filter(({ prompt }) => /SEND \w|WAIT/.test(prompt))
  return (
    written('.meta.json').some((text) => text.includes(tool)) &&
    written('.jsonl').join('').split('"I wait."').length > begun.length
  )
}

/** Expects one turn with a text, and no second one. Returns when it began. */
export async function onceWith(desk: TaskDesk, text: string, timeoutMs?: number): Promise<number> {
  const [turn] = await desk.turnWith(text, timeoutMs)
  await new Promise((resolve) => setTimeout(resolve, quietMs))
  expect(await desk.turnWith(text)).toHaveLength(1)
  return turn!.at
}

const tool = (name: string, input: JsonObject): Reply => ({ tool: `mcp__rouse__${name}`, input })

function replyTo(prompt: string, results: readonly string[]): Reply {
  if (prompt.includes('task-notification')) {
    const isMail = prompt.includes('Mail has come')
    const step = isMail ? readMail(results) : undefined
    if (step) return step
    return isMail && results.length === 2 ? tool('wait_for_messages', {}) : { text: 'I have seen it.' }
  }
  const [, word] = /SEND (\w+)/.exec(prompt) ?? []
  if (word && results.length === 0) return tool('send_task', { to: '@eve', text: `Please do ${word}` })
  if (prompt.includes('WAIT') && results.length === 0) return tool('wait_for_messages', {})
  if (prompt.includes('LIST') && results.length === 0) return tool('list_tasks', { role: 'originator' })
  if (prompt.includes('READ')) return readMail(results) ?? { text: 'I have read it.' }
  return { text: 'I wait.' }
}

/** The next call of a model that reads its unread mail and takes the first message on. Undefined: it has done so. */
function readMail(results: readonly string[]): Reply | undefined {
  if (results.length === 0) return tool('read_inbox', { unread: true })
  const id = results[0]?.match(/MESSAGE:[\w-]+/)?.[0]
  return results.length === 1 && id ? tool('mark_message', { messageId: id, status: 'acked' }) : undefined
}

/** The prompt of a turn, and what tools have answered since. Both as JSON. */
function turnOf({ messages }: JsonObject): { readonly prompt: string; readonly results: readonly string[] } {
  const items = (Array.isArray(messages) ? messages : []).filter(isJsonObject)
  const isResult = ({ content }: JsonObject): boolean =>
    Array.isArray(content) && content.some((part) => isJsonObject(part) && part.type === 'tool_result')
  const begin = items.findLastIndex((item) => item.role === 'user' && !isResult(item))
  const results = items.slice(begin + 1).filter(isResult)
  return { prompt: JSON.stringify(items[begin]?.content ?? ''), results: results.map((item) => JSON.stringify(item)) }
}
