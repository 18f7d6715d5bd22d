import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '../../src/lib/json.ts'

/** One request for an answer of the model. Requests for the title of a conversation have no tools, and are not recorded. */
export interface ModelRequest {
  readonly body: JsonObject
  /** All of it as text, to look for words in it. */
  readonly text: string
}

/** The answer of the model: a text, or the call of a tool. Codex puts the tools of a server into a namespace. */
export type Reply =
  | { readonly text: string }
  | { readonly tool: string; readonly namespace?: string; readonly input: JsonObject }

/** A model on loopback that speaks OpenAI's Responses API and Chat Completions API, and Anthropic's Messages API. `reply` is called for each request, with its number. */
export async function startFakeModel(reply: (request: ModelRequest, number: number) => Reply | Promise<Reply>) {
  const requests: ModelRequest[] = []
  let answered = 0
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const path = new URL(request.url!, 'http://model').pathname
    const answer = answers[path]
    if (request.method !== 'POST' || !answer) return void response.writeHead(404).end()
    const body = JSON.parse(text) as JsonObject
    const hasTools = Array.isArray(body.tools) && body.tools.length > 0
    if (hasTools) requests.push({ body, text })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const said = hasTools ? await reply({ body, text }, requests.length) : { text: 'title' }
    answer(response, said, ++answered, body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** `number`: of the answer, for ids of its own. Claude Code joins messages with one id, and leaves out a call whose id it has seen. */
type Answer = (response: ServerResponse, reply: Reply, number: number, body: JsonObject) => void

const noTokens = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
}

function answerResponses(response: ServerResponse, reply: Reply, number: number): void {
  const item =
    'text' in reply
      ? {
          type: 'message',
          role: 'assistant',
          id: `msg_${number}`,
          content: [{ type: 'output_text', text: reply.text }],
        }
      : {
          type: 'function_call',
          id: `fc_${number}`,
          call_id: `call_${number}`,
          name: reply.tool,
          namespace: reply.namespace,
          arguments: JSON.stringify(reply.input),
        }
  const events = [
    { type: 'response.created', response: { id: `resp_${number}` } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id: `resp_${number}`, usage: noTokens } },
  ]
  response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
}

function answerChat(response: ServerResponse, reply: Reply, number: number, { model }: JsonObject): void {
  const isText = 'text' in reply
  const call = isText
    ? undefined
    : {
        index: 0,
        id: `call_${number}`,
        type: 'function',
        function: { name: reply.tool, arguments: JSON.stringify(reply.input) },
      }
  const delta = isText ? { content: reply.text } : { tool_calls: [call] }
  const choices = [
    { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null },
    { index: 0, delta, finish_reason: null },
    { index: 0, delta: {}, finish_reason: isText ? 'stop' : 'tool_calls' },
  ]
  const base = { id: `cc_${number}`, object: 'chat.completion.chunk', created: 1, model }
  const chunks = choices.map((choice) => ({ ...base, choices: [choice] }))
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  const all = [...chunks, { ...base, choices: [], usage }]
  response.end(`${all.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`)
}

function answerMessages(response: ServerResponse, reply: Reply, number: number, { model }: JsonObject): void {
  const isText = 'text' in reply
  const usage = { input_tokens: 1, output_tokens: 1 }
  const block = isText
    ? { type: 'text', text: '' }
    : { type: 'tool_use', id: `toolu_${number}`, name: reply.tool, input: {} }
  const delta = isText
    ? { type: 'text_delta', text: reply.text }
    : { type: 'input_json_delta', partial_json: JSON.stringify(reply.input) }
  const message = {
    id: `msg_${number}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    usage,
  }
  const events = [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: isText ? 'end_turn' : 'tool_use' }, usage },
    { type: 'message_stop' },
  ]
  response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
}

const answers: Readonly<Record<string, Answer>> = {
  '/v1/responses': answerResponses,
  '/v1/chat/completions': answerChat,
  '/v1/messages': answerMessages,
}
