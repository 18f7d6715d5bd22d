import { isJsonObject, type JsonObject } from '../../src/lib/json.ts'
import { type Reply, startFakeModel } from './fake-model.ts'

/** The turn of a request: its prompt, and what tools have answered since. Both as JSON. */
export interface Turn {
  readonly prompt: string
  readonly results: readonly string[]
}

/** The parts that differ between harnesses: how its model calls one of our tools, and something that it asks its user about. */
export interface Dialect {
  readonly tool: (name: string, input: JsonObject) => Reply
  readonly askUser: Reply
}

/** The answer of the model to mail. */
export const answerBody = 'Done, says the model.'

/**
 * A model that does what a wake asks for: reads the mail with our tool, and answers its sender. `HOLD` in a prompt waits for `release`, and
 * so does what a bridge says to a session that it starts. `ASK` wants a command approved, and mail about `LATER` is left unread.
 */
export async function startMailModel(dialect: Dialect) {
  const turns: Turn[] = []
  const holding: (() => void)[] = []
  const listeners: ((turn: Turn) => void)[] = []
  const model = await startFakeModel(async ({ body }) => {
    const turn = turnOf(body)
    turns.push(turn)
    for (const listener of listeners) listener(turn)
    if (/HOLD|Rouse has started this session/.test(turn.prompt))
      await new Promise<void>((resolve) => holding.push(resolve))
    return replyTo(turn, dialect)
  })
  const release = () => {
    for (const one of holding.splice(0)) one()
  }
  return {
    url: model.url,
    turns,
    holding,
    release,
    /** Calls back when the model is prompted, before it answers. */
    onTurn: (listener: (turn: Turn) => void) => void listeners.push(listener),
    /** The number of turns that began with a text. */
    turnsWith: (text: string) =>
      turns.filter(({ prompt, results }) => prompt.includes(text) && results.length === 0).length,
    async [Symbol.asyncDispose]() {
      release()
      await model[Symbol.asyncDispose]()
    },
  }
}

function replyTo({ prompt, results }: Turn, { tool, askUser }: Dialect): Reply {
  if (prompt.includes('ASK') && results.length === 0) return askUser
  if (prompt.includes('LATER') || !prompt.includes('[Rouse ')) return { text: 'I wait for work.' }
  if (results.length === 0) return tool('read_inbox', { unread: true })
  // Mail stays unread until it is marked: the last one is the one that the wake is about.
  const id = results[0]!.match(/(?<=messageId\W+)MESSAGE:[\w-]+/g)?.at(-1)
  if (results.length === 1 && id) return tool('send_message', { inReplyTo: id, body: answerBody })
  return { text: 'That was the mail.' }
}

/** Of a request to OpenAI's Responses API, or to a Chat Completions or Messages API. */
function turnOf({ input, messages }: JsonObject): Turn {
  const all = Array.isArray(input) ? input : Array.isArray(messages) ? messages : []
  const items = all.filter(isJsonObject)
  const begin = items.findLastIndex((item) => item.role === 'user' && !isResult(item))
  const results = items.slice(begin + 1).filter(isResult)
  return { prompt: JSON.stringify(items[begin]?.content ?? ''), results: results.map((item) => JSON.stringify(item)) }
}

function isResult({ role, type, content }: JsonObject): boolean {
  const parts = Array.isArray(content) ? content.filter(isJsonObject) : []
  return role === 'tool' || String(type).endsWith('_output') || parts.some((part) => part.type === 'tool_result')
}
