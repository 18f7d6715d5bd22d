import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Pool } from 'undici'
import { makeDirectory, removeDirectory, startProgram, stopProcess } from './processes.mjs'
import { adminKey, encryptionKey, rouseMain } from './rouse.mjs'

/**
 * `rouse serve` in a process of its own, over a store that it makes or, with `dataDir`, finds.
 * @param flags of Node
 * @param onLine called with each line that it prints after the first
 */
export async function startGateway({ dataDir, env: more = {}, flags = [], onLine } = {}) {
  const directory = dataDir ?? makeDirectory('gateway')
  // The rates of agents are not measured here, so they are off.
  const unlimited = { ROUSE_MESSAGES_PER_MINUTE: '0', ROUSE_STORM_MESSAGES: '0' }
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('ROUSE_'))
  const keys = { ROUSE_ADMIN_KEY: adminKey, ROUSE_ENCRYPTION_KEY: encryptionKey }
  const env = { ...Object.fromEntries(own), ...keys, ...unlimited, ...more }
  const child = startProgram(
    process.execPath,
    [...flags, rouseMain, 'serve', '--port', '0', '--grpc-port', 'off', '--data-dir', directory, '--json'],
    {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  child.stderr.pipe(process.stderr, { end: false })
  const lines = createInterface({ input: child.stdout })
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('The gateway ended before it listened.')))
  const listening = new Promise((resolve) => {
    lines.on('line', (line) => (line.startsWith('{"url"') ? resolve(line) : onLine?.(line)))
  })
  const line = await Promise.race([listening, ended])
  ended.catch(() => {})
  const { url } = JSON.parse(line)
  const pool = new Pool(url, { connections: 64, pipelining: 1 })
  return {
    url,
    pid: child.pid,
    dataDir: directory,
    call: (method, path, body, key = adminKey, headers = {}) => call(pool, { method, path, body, key, headers }),
    async stop() {
      child.stderr.unpipe().resume()
      await pool.close()
      await stopProcess(child)
      if (!dataDir) removeDirectory(directory)
    },
  }
}

/** Takes the rates of agents away, each by itself: an older build does not know all of them. */
export async function liftRates(gateway) {
  const limits = {
    requestsPerMinute: 0,
    megabytesPerMinute: 0,
    bytesStored: 0,
    changesPerDay: 0,
  }
  for (const [name, max] of Object.entries(limits)) {
    await gateway.call('PATCH', '/v1/projects/default', { limits: { [name]: max } }).catch(() => {})
  }
}

/** The JSON-RPC call that starts a task and does not wait for it. */
export function sendMessageCall(text, messageId = crypto.randomUUID()) {
  const message = { messageId, role: 'ROLE_USER', parts: [{ text }] }
  const params = { message, configuration: { returnImmediately: true } }
  return { jsonrpc: '2.0', id: 1, method: 'SendMessage', params }
}

/** Starts a task over HTTP and answers it. */
export async function sendMessage(gateway, handle, text, key) {
  const answer = await gateway.call('POST', `/agents/${handle}`, sendMessageCall(text), key, { 'A2A-Version': '1.0' })
  if (!answer.result) throw new Error(`SendMessage was refused: ${JSON.stringify(answer)}`)
  return answer.result.task
}

async function call(pool, { method, path, body, key, headers }) {
  const answer = await pool.request({
    method,
    path,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: body && JSON.stringify(body),
  })
  const text = await answer.body.text()
  if (answer.statusCode >= 300) throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text}`)
  return JSON.parse(text)
}
