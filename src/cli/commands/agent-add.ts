import type { Command } from 'commander'
import { agentPath, bareHandle } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { paint, plain } from '../../client/terminal-text.ts'
import { type AgentOptions, addAgentOptions, agentFields } from '../options/agent-options.ts'
import { saveKeyOption, savingKey } from '../options/save-key.ts'
import { clientCommand, connect } from '../run/client-command.ts'

interface AgentAddOptions extends AgentOptions {
  saveKey?: string
}

export function registerAgentAdd(parent: Command, io: Io): void {
  const command = clientCommand(parent, 'add <handle>', 'add an agent; prints its key once', [
    'rouse agent add @donna --save-key donna.key',
    'rouse agent add @donna --name Donna --skill "review:Code review:typescript,security" --access project',
  ]).option(...saveKeyOption)
  const help = {
    skill: 'a skill as id:name:tag,tag; repeatable',
    alias: 'another handle for the same agent; repeatable',
  }
  addAgentOptions(command, help).action(async (handle: string, options: AgentAddOptions, command: Command) => {
    const { gateway, print } = connect(io, command)
    const body = { handle, ...agentFields(options) }
    const answer = await savingKey(options.saveKey, () => gateway.call('POST /v1/agents', { body }))
    const name = plain(answer.agent.handle)
    print.result(
      answer,
      () =>
        `${name} is registered. Its address: ${gateway.url}${agentPath(gateway, bareHandle(name))}/\n` +
        (answer.keyFile === undefined
          ? `key: ${paint(io, 'bold', plain(answer.apiKey))}\nKeep this key: it is shown only now. The agent uses it as ROUSE_KEY, or from a file with ROUSE_KEY_FILE.\n`
          : `key: in ${plain(answer.keyFile)}. The agent uses it with ROUSE_KEY_FILE, --key-file, or rouse login --key-file ${plain(answer.keyFile)}.\n`),
    )
  })
}
