import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('./opencode-process.ts', import.meta.url))

/** The fake in a process that is named `opencode`, as the adapter finds it. `linkDirectory`: where the link to Node may be made. */
export async function spawnOpencode(linkDirectory: string, directory: string, sessionId: string) {
  const program = join(linkDirectory, 'opencode')
  symlinkSync(process.execPath, program)
  const tsx = fileURLToPath(import.meta.resolve('tsx'))
  const child = spawn(program, ['--import', tsx, script, directory, sessionId], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => JSON.parse((await lines.next()).value)
  const { port } = await next()
  return {
    pid: child.pid!,
    port: port as number,
    prompts: async (): Promise<string[]> => {
      child.stdin.write('\n')
      return (await next()).prompts
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await ended
    },
  }
}
