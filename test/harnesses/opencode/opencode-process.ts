import { startFakeOpencode } from './fake-opencode.ts'

// A process of its own: `opencode <directory> <session>`. It ends with whoever started it.
const [, , directory = '', sessionId = ''] = process.argv
const fake = await startFakeOpencode({ directory })
fake.addSession(sessionId)
process.stdin.on('data', () => process.stdout.write(`${JSON.stringify({ prompts: fake.prompts() })}\n`))
process.stdin.on('end', () => process.exit(0))
process.stdout.write(`${JSON.stringify({ port: fake.port })}\n`)
