import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'

/**
 * The service of OpenCode 2, by its protocol: there is no package of it to compare with. A prompt is admitted once for each id; it
 * answers only with its password; its file stays when it is killed.
 */
export async function startFakeService(stateHome: string, directory: string) {
  const requests: string[] = []
  const inbox = new Map<string, string>()
  const turns: string[] = []
  const running = new Set<string>()
  const streams = new Set<ServerResponse>()
  const settings = { pid: process.pid, starts: true }
  const emit = (type: string, data: object) => {
    for (const stream of streams) stream.write(`data: ${JSON.stringify({ type, data })}\n\n`)
  }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const { pathname } = new URL(request.url!, 'http://opencode')
    const route = `${request.method} ${pathname}`
    requests.push(route)
    const say = (status: number, json: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(json))
    }
    const authorization = `Basic ${Buffer.from('opencode:a secret').toString('base64')}`
    if (request.headers.authorization !== authorization) return say(401, {})
    if (route === 'GET /api/info') return say(200, { version: '2.0.1', pid: settings.pid })
    if (route === 'GET /api/session') return say(200, { data: [{ id: 'ses_1', location: { directory } }], cursor: {} })
    if (route === 'GET /api/session/active')
      return say(200, { data: Object.fromEntries([...running].map((id) => [id, { type: 'running' }])) })
    if (route === 'GET /api/event') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify({ type: 'server.connected', data: {} })}\n\n`)
      streams.add(response)
      response.on('close', () => streams.delete(response))
      return
    }
    const [, id] = /\/inbox\/(.+)$/.exec(pathname) ?? []
    if (id !== undefined) return say(inbox.has(id) ? 200 : 404, {})
    if (route !== 'POST /api/session/ses_1/prompt') return say(404, { _tag: 'SessionNotFound' })
    const prompt = JSON.parse(Buffer.concat(chunks).toString()) as { id: string; text: string; delivery: string }
    if (inbox.has(prompt.id) || turns.includes(prompt.id)) return say(409, { _tag: 'ConflictError' })
    inbox.set(prompt.id, prompt.text)
    say(200, { data: { ...prompt, sessionID: 'ses_1' } })
    emit('session.inbox.enqueued', { sessionID: 'ses_1', id: prompt.id })
    if (!settings.starts) return
    inbox.delete(prompt.id)
    turns.push(prompt.id)
    emit('session.execution.started', { sessionID: 'ses_1' })
    emit('session.inbox.delivered', { sessionID: 'ses_1', id: prompt.id })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const path = join(stateHome, 'opencode/service.json')
  mkdirSync(dirname(path), { recursive: true })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  writeFileSync(path, JSON.stringify({ id: 'x', version: '2.0.1', url, pid: process.pid, password: 'a secret' }))
  chmodSync(path, 0o600)
  return {
    path,
    requests,
    turns,
    running,
    settings,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
