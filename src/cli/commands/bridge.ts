import type { Command } from 'commander'
import type { Io } from '../io.ts'
import { registerBridgeClients } from './bridge-clients.ts'

/** `rouse bridge …`: hands the wakes of agents to the harnesses of this machine. */
export function registerBridge(program: Command, io: Io): void {
  const bridge = program.command('bridge').description('hand the wakes of agents to the harnesses of this machine')
  registerBridgeClients(bridge, io)
}
