import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const children = new Set()
const directories = new Set()
// However this process ends, what it started ends with it.
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130))

/** Starts a program that ends with this process. */
export function startProgram(command, args, options) {
  return tracked(spawn(command, args, options))
}

/** Starts a file of this package as a Node process that talks in messages: `url` is relative to `bench/lib/`. */
export function startNode(url, args = [], options = {}) {
  const path = fileURLToPath(new URL(url, import.meta.url))
  const child = fork(path, args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    serialization: 'advanced',
    ...options,
  })
  return tracked(child)
}

/** The next message of a child. Rejects when it ends first, or says nothing for too long. */
export async function nextMessage(child, timeoutMs = 600_000) {
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), timeoutMs)
  try {
    const [message] = await Promise.race([
      once(child, 'message', { signal: stop.signal }),
      once(child, 'exit', { signal: stop.signal }).then(([code, signal]) => {
        throw new Error(`${child.spawnfile} ended (${code ?? signal}) before it answered.`)
      }),
    ])
    return message
  } finally {
    clearTimeout(timer)
    stop.abort()
  }
}

export async function ask(child, message) {
  const answer = nextMessage(child)
  child.send(message)
  return answer
}

/** Stops a child process, with a kill if it does not end in time. */
export async function stopProcess(child, signal = 'SIGTERM') {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill(signal)
  const force = setTimeout(() => child.kill('SIGKILL'), 15_000)
  await exited
  clearTimeout(force)
}

export function makeDirectory(name) {
  const directory = mkdtempSync(join(tmpdir(), `rouse-bench-${name}-`))
  directories.add(directory)
  return directory
}

export function removeDirectory(directory) {
  directories.delete(directory)
  rmSync(directory, { recursive: true, force: true })
}

/** A port of the loopback interface without a listener. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

function tracked(child) {
  children.add(child)
  child.once('exit', () => children.delete(child))
  child.once('error', () => children.delete(child))
  return child
}
