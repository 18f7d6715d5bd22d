// A harness as small as one can be: it takes its boot prompt, starts a session of its own, says that it works, and waits.
import { appendFileSync, readFileSync } from 'node:fs'

const { GATEWAY, AGENT_KEY, STARTS, SILENT, STUBBORN } = process.env
const [prompt = ''] = process.argv.slice(2)
const stdin = process.env.READS_STDIN ? readFileSync(0, 'utf8') : ''
appendFileSync(
  STARTS,
  `${JSON.stringify({ pid: process.pid, cwd: process.cwd(), prompt, stdin, profile: process.env.ROUSE_PROFILE, key: process.env.ROUSE_KEY, isTerminal: process.stdout.isTTY, quoted: process.env.QUOTED })}\n`,
)
if (STUBBORN) process.on('SIGTERM', () => {})

/** When this process started, as the system says it. */
function startedAt() {
  const fields = readFileSync('/proc/self/stat', 'latin1').split(') ').at(-1).split(' ')
  const bootedAt = Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'latin1'))[1])
  return new Date(bootedAt * 1_000 + Number(fields[19]) * 10).toISOString()
}

async function say(method, path, body) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${AGENT_KEY}` }
  const answer = await fetch(GATEWAY + path, { method, headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
}

if (!SILENT) {
  const own = process.env.SAYS_NO_PID ? {} : { pid: process.pid, startedAt: startedAt() }
  await say('POST', '/v1/sessions', { surface: 'repl', ...own, drain: false })
  await say('PUT', '/v1/presence', { state: 'active', source: 'bridge-daemon' })
  if (process.env.SOON_IDLE) await say('PUT', '/v1/presence', { state: 'idle', source: 'bridge-daemon' })
}
setTimeout(() => {}, Number(process.env.ENDS_AFTER_MS ?? 3_600_000))
