import type { Command } from 'commander'
import type { Io } from '../io.ts'
import { registerAgentAdd } from './agent-add.ts'
import { registerAgentKeyAdd } from './agent-key-add.ts'
import { registerAgentKeyList } from './agent-key-list.ts'
import { registerAgentKeyRm } from './agent-key-rm.ts'
import { registerAgentList } from './agent-list.ts'
import { registerAgentRm } from './agent-rm.ts'
import { registerAgentShow } from './agent-show.ts'
import { registerAgentUpdate } from './agent-update.ts'

export function registerAgent(program: Command, io: Io): void {
  const agent = program.command('agent').description('add, show and change agents and their keys')
  registerAgentAdd(agent, io)
  registerAgentList(agent, io)
  registerAgentShow(agent, io)
  registerAgentUpdate(agent, io)
  registerAgentRm(agent, io)
  const key = agent.command('key').description("add, list and revoke an agent's keys")
  registerAgentKeyAdd(key, io)
  registerAgentKeyList(key, io)
  registerAgentKeyRm(key, io)
}
