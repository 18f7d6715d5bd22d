import type { Command } from 'commander'
import type { Io } from '../../client/io.ts'
import { clientCommand } from '../run/client-command.ts'

interface McpCommandOptions {
  channel?: true
  serve?: true
  bridge?: true
  verbose?: true
}

/** `rouse mcp`: the MCP server that a harness starts. Standard output is the protocol, and nothing else. */
export function registerMcp(program: Command, io: Io): void {
  clientCommand(program, 'mcp', 'the tools of Rouse for a harness, over MCP on standard input and output', [
    'claude mcp add rouse -- rouse mcp --profile donna',
    'codex mcp add rouse -- rouse mcp --profile donna',
  ])
    .option('--channel', 'push new mail through a channel of Claude Code (default: where the client is Claude Code)')
    .option('--serve', 'start a gateway for this user if none answers on this machine; it ends with this command')
    .option('--bridge', 'start rouse bridge in the background if none of this user runs; it stays')
    .option('--verbose', 'say on standard error what happens')
    .action(async (options: McpCommandOptions, command: Command) => {
      const { startMcp } = await import('../mcp/start-mcp.ts')
      await startMcp(options, io, command)
    })
}
