import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Message {
  readonly info: {
    readonly id: string
    readonly role: 'user' | 'assistant'
    readonly sessionID: string
    readonly parentID?: string
    readonly agent?: string
    readonly model?: { readonly providerID: string; readonly modelID: string }
    readonly time: { readonly created: number }
  }
  readonly parts: (TextPart | ToolPart)[]
}

interface TextPart {
  readonly type: 'text'
  readonly text: string
}

interface ToolPart {
  readonly type: 'tool'
  readonly callID: string
  state: { readonly status: 'pending' | 'running'; readonly input: object }
}

interface Session {
  readonly id: string
  readonly directory: string
  parentID?: string
  readonly time: { created: number; updated: number; archived?: number }
}

interface FakeOptions {
  readonly directory: string
  readonly password?: string
  readonly version?: string
}

/**
 * OpenCode 1 as its real server behaves, with its silent failures: it answers 204 to a prompt that starts nothing; it adds a prompt
 * with a known id to the first one; it passes over the prompts that wait for a turn that is stopped; a request while it boots stays
 * without an answer; its events may drop; `/tui/*` says yes without a terminal.
 */
export async function startFakeOpencode(options: FakeOptions) {
  const fake = new FakeOpencode(options)
  await fake.listen()
  return fake
}

export class FakeOpencode implements AsyncDisposable {
  /** The requests that it got, as `POST /session/ses_1/prompt_async`. */
  readonly requests: string[] = []
  readonly sessions = new Map<string, Session>()
  readonly messages = new Map<string, Message[]>()
  /** The texts of each turn's prompt, as the model was given them. */
  readonly turns: { sessionId: string; parentId: string; agent?: string | undefined }[] = []
  /** Prompts from now on are taken with 204, and are never heard of. */
  isSilent = false
  /** A turn ends at once, or when `finish` is called. */
  holdsTurns = false
  /** So many requests from now on stay without an answer. */
  hangs = 0
  /** The plugin that runs inside it. */
  readonly listeners = new Set<(type: string, properties: object) => void>()
  /** True when events are sent. */
  sendsEvents = true
  readonly #options: FakeOptions
  readonly #busy = new Set<string>()
  readonly #asks = new Map<string, string>()
  readonly #questions = new Map<string, object>()
  /** The answers that counted, as `POST /permission/per_1/reply`, with their bodies. */
  readonly replies: { readonly route: string; readonly body: object }[] = []
  readonly #details = new Map<string, object>()
  readonly #streams = new Set<ServerResponse>()
  readonly #server = createServer((request, response) => void this.#serve(request, response))
  #last = 0

  constructor(options: FakeOptions) {
    this.#options = options
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  addSession(id: string, more: Partial<Session> = {}): void {
    const now = Date.now()
    this.sessions.set(id, { id, directory: this.#options.directory, time: { created: now, updated: now }, ...more })
    this.messages.set(id, [])
    this.emit('session.created', { info: this.sessions.get(id) })
  }

  /** Writes as its user in the terminal. */
  type(sessionId: string, text: string, agent = 'build'): void {
    this.#prompt(sessionId, { parts: [{ type: 'text', text }], agent })
  }

  prompts(): string[] {
    return this.requests.filter((request) => request.endsWith('/prompt_async'))
  }

  isBusy(sessionId: string): boolean {
    return this.#busy.has(sessionId)
  }

  /** The running turn asks its user for an approval. Returns its id. */
  ask(sessionId: string, details: object = {}): string {
    const id = `per_${this.#next()}`
    this.#asks.set(id, sessionId)
    this.#details.set(id, details)
    this.emit('permission.asked', { id, sessionID: sessionId })
    return id
  }

  /** The running turn calls a tool: its answer has the call, whose input is stored when `run` is called. */
  callTool(sessionId: string, input: object) {
    const { info, parts } = this.messages.get(sessionId)!.at(-1)!
    const part: ToolPart = { type: 'tool', callID: `call_${this.#next()}`, state: { status: 'pending', input: {} } }
    parts.push(part)
    const run = () => {
      part.state = { status: 'running', input }
    }
    return { tool: { messageID: info.id, callID: part.callID }, run }
  }

  /** The running turn asks its user questions. Returns the id. */
  askQuestions(sessionId: string, questions: object[]): string {
    const id = `que_${this.#next()}`
    this.#questions.set(id, { id, sessionID: sessionId, questions })
    this.emit('question.asked', { id, sessionID: sessionId, questions })
    return id
  }

  /** Its user answers them in the terminal. */
  answerQuestions(id: string): void {
    this.#questions.delete(id)
    this.emit('question.replied', { requestID: id })
  }

  /** The user allows it, or refuses it, which stops the turn. */
  reply(id: string, reply: 'once' | 'reject'): void {
    const sessionId = this.#asks.get(id)!
    this.#asks.delete(id)
    this.emit('permission.replied', { requestID: id, sessionID: sessionId, reply })
    if (reply === 'reject') this.stop(sessionId)
    else this.finish(sessionId)
  }

  /** The turn that runs ends, and those that wait get one each. */
  finish(sessionId: string): void {
    const waiting = this.#unanswered(sessionId).at(-1)
    if (waiting) this.#begin(sessionId, waiting)
    else this.#setBusy(sessionId, false)
  }

  /** Esc, or a refused approval: prompts that wait for the turn are skipped. */
  stop(sessionId: string): void {
    this.#setBusy(sessionId, false)
  }

  dropEvents(): void {
    for (const stream of this.#streams) stream.destroy()
  }

  emit(type: string, properties: object): void {
    for (const listener of this.listeners) listener(type, properties)
    if (!this.sendsEvents) return
    for (const stream of this.#streams) stream.write(`data: ${JSON.stringify({ type, properties })}\n\n`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const { pathname } = new URL(request.url!, 'http://opencode')
    this.requests.push(`${request.method} ${pathname}`)
    if (this.hangs > 0) {
      this.hangs -= 1
      return
    }
    const { password } = this.#options
    const wanted = `Basic ${Buffer.from(`opencode:${password}`).toString('base64')}`
    if (password !== undefined && request.headers.authorization !== wanted) return void response.writeHead(401).end()
    const body = chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString())
    const { status, json } = this.#answer(`${request.method} ${pathname}`, body, response)
    if (status === 0) return
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(json === undefined ? undefined : JSON.stringify(json))
  }

  #answer(route: string, body: object, response: ServerResponse): { status: number; json?: unknown } {
    const json = (value: unknown) => ({ status: 200, json: value })
    const [, sessionId = '', , messageId] = /^\w+ \/session\/([^/]+)(\/message(?:\/([^/]+))?)?/.exec(route) ?? []
    if (route === 'GET /global/health') return json({ healthy: true, version: this.#options.version ?? '1.18.33' })
    if (route === 'GET /path') return json({ directory: this.#options.directory })
    if (route === 'GET /event') return this.#stream(response)
    if (route === 'GET /session') return json([...this.sessions.values()])
    if (route === 'GET /session/status')
      return json(Object.fromEntries([...this.#busy].map((id) => [id, { type: 'busy' }])))
    if (route === 'GET /permission')
      return json([...this.#asks].map(([id, sessionID]) => ({ id, sessionID, ...this.#details.get(id) })))
    if (route === 'GET /question') return json([...this.#questions.values()])
    const replied = /^POST \/(?:permission|question)\/([^/]+)\/(?:reply|reject)$/.exec(route)?.[1]
    if (replied) return this.#replied(replied, route, body)
    if (route.startsWith('POST /tui/')) return json(true)
    if (!this.sessions.has(sessionId)) return { status: 404, json: { name: 'NotFoundError' } }
    if (route.endsWith('/prompt_async')) return { status: this.#prompt(sessionId, body) }
    if (route === `GET /session/${sessionId}`) return json(this.sessions.get(sessionId))
    const own = this.messages.get(sessionId)!
    if (messageId === undefined) return json(own)
    const found = own.find(({ info }) => info.id === messageId)
    if (!found) return { status: 404, json: { name: 'NotFoundError' } }
    if (route.startsWith('GET ')) return json(found)
    if (this.#busy.has(sessionId)) return { status: 400, json: { name: 'SessionBusyError' } }
    own.splice(own.indexOf(found), 1)
    return json(true)
  }

  #replied(id: string, route: string, body: object): { status: number; json?: unknown } {
    if (!this.#asks.has(id) && !this.#questions.has(id))
      return { status: 404, json: { _tag: 'PermissionNotFoundError' } }
    this.replies.push({ route: route.replace(id, 'ID'), body })
    if (this.#questions.has(id)) this.answerQuestions(id)
    else this.reply(id, (body as { reply: 'once' | 'reject' }).reply)
    return { status: 200, json: true }
  }

  #stream(response: ServerResponse): { status: number } {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(`data: ${JSON.stringify({ type: 'server.connected', properties: {} })}\n\n`)
    this.#streams.add(response)
    response.on('close', () => this.#streams.delete(response))
    return { status: 0 }
  }

  /** Returns the status, which says nothing. */
  #prompt(sessionId: string, body: { messageID?: string; agent?: string; model?: object; parts?: Message['parts'] }) {
    const { messageID = `msg_${this.#next()}`, parts = [] } = body
    if (!messageID.startsWith('msg')) return 400
    if (this.isSilent) return 204
    const own = this.messages.get(sessionId)!
    const known = own.find(({ info }) => info.id === messageID)
    if (known) {
      known.parts.push(...parts)
      return 204
    }
    const time = { created: this.#now() }
    const agent = body.agent ?? 'build'
    const model = { providerID: 'mock', modelID: 'mock-model' }
    const message: Message = { info: { id: messageID, role: 'user', sessionID: sessionId, agent, model, time }, parts }
    own.push(message)
    this.sessions.get(sessionId)!.time.updated = Date.now()
    this.emit('message.updated', { sessionID: sessionId, info: message.info })
    if (!this.#busy.has(sessionId)) this.#begin(sessionId, message)
    return 204
  }

  #begin(sessionId: string, { info }: Message): void {
    this.#setBusy(sessionId, true)
    this.turns.push({ sessionId, parentId: info.id, agent: info.agent })
    const time = { created: this.#now() }
    const answer = {
      id: `msg_${this.#next()}`,
      role: 'assistant' as const,
      sessionID: sessionId,
      parentID: info.id,
      time,
    }
    this.messages.get(sessionId)!.push({ info: answer, parts: [] })
    this.emit('message.updated', { sessionID: sessionId, info: answer })
    if (!this.holdsTurns) this.finish(sessionId)
  }

  #unanswered(sessionId: string): Message[] {
    const own = this.messages.get(sessionId)!
    const lastAnswer = own.findLast(({ info }) => info.role === 'assistant')
    return own.filter(({ info }) => info.role === 'user' && info.time.created > (lastAnswer?.info.time.created ?? 0))
  }

  #setBusy(sessionId: string, isBusy: boolean): void {
    if (isBusy) this.#busy.add(sessionId)
    else this.#busy.delete(sessionId)
    this.emit('session.status', { sessionID: sessionId, status: { type: isBusy ? 'busy' : 'idle' } })
    if (!isBusy) this.emit('session.idle', { sessionID: sessionId })
  }

  /** No two messages have the same time. */
  #now(): number {
    this.#last = Math.max(this.#last + 1, Date.now())
    return this.#last
  }

  #next(): string {
    return `${this.#now().toString(16)}${'0'.repeat(14)}`
  }
}
