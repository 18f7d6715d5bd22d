import type { Command } from 'commander'
import { Reported } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { withExamples } from '../run/client-command.ts'

/** `rouse bridge acp -- <agent>`: what an editor starts in place of its agent, so that the bridge can wake it. */
export function registerBridgeAcp(bridge: Command, io: Io): void {
  const acp = bridge
    .command('acp <command...>')
    .description('stand between an editor and its agent (Agent Client Protocol), and take wakes for its sessions')
  withExamples(acp, [
    'rouse bridge acp -- gemini --acp',
    'rouse bridge acp -- npx @agentclientprotocol/claude-agent-acp',
  ]).action(async (command: string[]) => {
    const { runAcpProxy } = await import('../../harnesses/generic/acp/acp-proxy.ts')
    // The bytes of both sides, which `Io` has as texts.
    const code = await runAcpProxy({
      command,
      env: io.env,
      input: process.stdin,
      output: process.stdout,
      signal: io.signal,
    })
    if (code !== 0) throw new Reported(code)
  })
}
