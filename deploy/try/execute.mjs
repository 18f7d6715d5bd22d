import { spawn } from 'node:child_process'

/** Runs a command to its end. Throws what it printed when it fails, unless failing is an answer. */
export function execute(command, argv, { env, allowFailure = false } = {}) {
  const child = spawn(command, argv, {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(env && { env: { PATH: process.env.PATH, ...env } }),
  })
  const printed = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'])
    child[stream].setEncoding('utf8').on('data', (text) => (printed[stream] += text))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0 || allowFailure) resolve({ code, ...printed })
      else reject(new Error(`${command} ${argv.join(' ')} ended with ${code}: ${printed.stderr || printed.stdout}`))
    })
  })
}
