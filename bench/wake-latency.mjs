// How long from a client's SendMessage to the wake's arrival, and for a whole submitted → working → completed round trip,
// one at a time on an idle gateway with coalescing window 0. The gateway is a process of its own with synchronous=FULL.
//
//   npm run bench:latency            200 tasks after 50 of warm-up, three repetitions
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Pool } from 'undici'

const tasks = Number(process.argv[2] ?? 200)
const warmUp = 50
const repetitions = 3

const dataDir = mkdtempSync(join(tmpdir(), 'rouse-bench-'))
const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const gateway = spawn(process.execPath, [main, 'serve', '--port', '0', '--data-dir', dataDir, '--json'], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
try {
  const [line] = await once(createInterface({ input: gateway.stdout }), 'line')
  await measure(JSON.parse(line).url, readFileSync(join(dataDir, 'admin.key'), 'utf8').trim())
} finally {
  gateway.kill('SIGTERM')
  await once(gateway, 'exit')
  rmSync(dataDir, { recursive: true, force: true })
}

async function measure(url, adminKey) {
  const pool = new Pool(url)
  const call = async (method, path, body, key = adminKey, headers = {}) => {
    const answer = await pool.request({
      method,
      path,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: body && JSON.stringify(body),
    })
    return answer.body.json()
  }
  const { apiKey } = await call('POST', '/v1/agents', { handle: 'donna' })
  const arrivals = new Map()
  const receiver = createServer((req, res) => {
    const arrivedAt = performance.now()
    let text = ''
    req.on('data', (chunk) => {
      text += chunk
    })
    req.on('end', () => {
      res.writeHead(204).end()
      const { newState, taskId } = JSON.parse(text).payload
      arrivals.get(`${taskId} ${newState}`)?.(arrivedAt)
      arrivals.set(`${taskId} ${newState}`, arrivedAt)
    })
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const target = { url: `http://127.0.0.1:${receiver.address().port}/`, coalesceWindow: 0 }
  await call('POST', '/v1/wake-subscriptions', { trigger: 'TASK_STATE_CHANGED', harnessTargetMetadata: target }, apiKey)

  const arrival = (taskId, state) => {
    const known = arrivals.get(`${taskId} ${state}`)
    return known === undefined ? new Promise((resolve) => arrivals.set(`${taskId} ${state}`, resolve)) : known
  }
  const once1 = async () => {
    const sentAt = performance.now()
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'measure this' }] }
    const params = { message, configuration: { returnImmediately: true } }
    const { result } = await call('POST', '/agents/donna', { jsonrpc: '2.0', id: 1, method: 'SendMessage', params }, adminKey, {
      'A2A-Version': '1.0',
    })
    const { id } = result.task
    const acceptedAt = performance.now()
    const wokenAt = await arrival(id, 'Submitted')
    await call('POST', `/v1/tasks/${id}/transitions`, { to: 'working', expectedVersion: 1 }, apiKey)
    await call('POST', `/v1/tasks/${id}/transitions`, { to: 'completed', expectedVersion: 2 }, apiKey)
    const doneAt = await arrival(id, 'Completed')
    return { accept: acceptedAt - sentAt, wake: wokenAt - sentAt, roundTrip: doneAt - sentAt }
  }

  console.log(`Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model.trim()}, ${tasks} tasks, ${repetitions} repetitions`)
  for (let i = 0; i < warmUp; i++) await once1()
  const rows = []
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const samples = []
    for (let i = 0; i < tasks; i++) samples.push(await once1())
    rows.push(samples)
  }
  console.log('ms (median of the repetitions, min–max)      p50                  p99')
  print('SendMessage → answered (durable)', 'accept')
  print('SendMessage → wake arrives', 'wake')
  print('submitted → working → completed, woken', 'roundTrip')
  receiver.close()
  receiver.closeAllConnections()
  await pool.close()

  function print(label, field) {
    const at = (q) => {
      const values = rows.map((samples) => quantile(samples.map((sample) => sample[field]), q)).sort((a, b) => a - b)
      return `${values[1].toFixed(2)} (${values[0].toFixed(2)}–${values[2].toFixed(2)})`
    }
    console.log(`${label.padEnd(42)} ${at(0.5).padEnd(20)} ${at(0.99)}`)
  }
}

function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]
}
