import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { initialize } from '../fronts/mcp/http/wire.ts'
import type { Run } from './run.ts'

const accept = { accept: 'application/json, text/event-stream' }

/** MCP over HTTP: a session that stays open, one that is ended, wrong and misplaced keys. */
export async function runMcp(run: Run, key: string, wrongKey: string, misplaced: string): Promise<void> {
  const header = 'mcp-session-id'
  const as = (bearer: string, more: Record<string, string> = {}) => ({
    authorization: `Bearer ${bearer}`,
    ...accept,
    ...more,
  })
  const begin = async () => {
    const { handed, status } = await run.request('POST', '/mcp', initialize(), as(key), header)
    expect(status).toBe(200)
    return { [header]: handed }
  }
  const post = (method: string, params: object, headers: Record<string, string>) =>
    run.request('POST', '/mcp', { jsonrpc: '2.0', id: 2, method, params }, headers)

  const session = await begin()
  const inSession = as(key, session)
  const tool = (name: string, given: object) => post('tools/call', { name, arguments: given }, inSession)
  expect((await tool('whoami', {})).text).toContain('@donna')
  await post('tools/list', {}, inSession)
  // A model that puts a key where it does not belong is not told it again.
  const refused = [
    await tool('whoami', { apiKey: misplaced }),
    await tool('read_inbox', { limit: misplaced }),
    await post(misplaced, {}, inSession),
    await run.request('POST', `/mcp?key=${misplaced}`, initialize(), as(wrongKey)),
  ]
  for (const { text } of refused) expect(text).toMatch(/error/i)

  const unknown = run.watch.secret('an MCP session id of nobody', randomBytes(24).toString('base64url'))
  expect((await post('tools/list', {}, as(key, { [header]: unknown }))).status).toBe(404)
  expect((await post('tools/list', {}, as(wrongKey, session))).status).toBe(401)
  expect((await run.request('GET', '/mcp', undefined, as(wrongKey, session))).status).toBe(401)
  expect((await run.request('DELETE', '/mcp', undefined, as(key, await begin()))).status).toBeLessThan(300)
}
