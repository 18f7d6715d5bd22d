import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { JsonObject } from '../../src/lib/json.ts'

interface Hook {
  readonly key: string
  readonly currentHash: string
  readonly trustStatus: string
}

/** Trusts all hooks, as a user does in the terminal. Returns what they were before. */
export async function trustHooks(codex: string, cwd: string, env: Record<string, string>): Promise<string[]> {
  const child = spawn(codex, ['app-server'], { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] })
  const waiting = new Map<number, (result: JsonObject) => void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result } = JSON.parse(line) as { id?: number; result?: JsonObject }
    if (id !== undefined) waiting.get(id)?.(result ?? {})
  })
  let last = 0
  const send = (message: JsonObject) => child.stdin.write(`${JSON.stringify(message)}\n`)
  const call = (method: string, params: JsonObject) =>
    new Promise<JsonObject>((resolve) => {
      last += 1
      waiting.set(last, resolve)
      send({ id: last, method, params })
    })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const clientInfo = { name: 'test', title: 'test', version: '0' }
  await call('initialize', { clientInfo, capabilities: { experimentalApi: true } })
  send({ method: 'initialized' })
  const { data } = (await call('hooks/list', { cwds: [cwd] })) as unknown as { data: { hooks: Hook[] }[] }
  const hooks = data.flatMap((folder) => folder.hooks)
  const value = Object.fromEntries(hooks.map((hook) => [hook.key, { enabled: true, trusted_hash: hook.currentHash }]))
  const edits = [{ keyPath: 'hooks.state', value, mergeStrategy: 'upsert' }]
  await call('config/batchWrite', { edits, reloadUserConfig: true })
  child.stdin.end()
  await ended
  return hooks.map((hook) => hook.trustStatus)
}
