import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('./harness.mjs', import.meta.url))

/** Starts the harness in a process of its own, which works the tasks of the agent that has the key until it is disposed. */
export async function spawnHarness(gateway: { url: string }, agent: { key: string }): Promise<AsyncDisposable> {
  const child = spawn(process.execPath, [script], {
    env: { GATEWAY_URL: gateway.url, GATEWAY_KEY: agent.key },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const ready = new Promise<void>((resolve) => {
    child.stdout.on('data', (data: Buffer) => data.includes('READY') && resolve())
  })
  const failed = ended.then(([code]) => {
    throw new Error(`The harness ended with ${code} before it was ready.`)
  })
  await Promise.race([ready, failed])
  failed.catch(() => {})
  return {
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await ended
    },
  }
}
