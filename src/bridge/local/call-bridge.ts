import { createConnection, type Socket } from 'node:net'
import type { Io } from '../../client/io.ts'
import { isPrivateDirectory, type LocalMachine, localAddress, thisMachine } from './address.ts'
import type { ClientMessage } from './messages.ts'
import { lineOf } from './protocol.ts'

/** A hook is part of a turn: it does not wait longer for a bridge that hangs. */
const callMaxMs = 300

/**
 * Sends the bridge of this user one message. Resolves with whether it could be sent; without a bridge at once. Never rejects. It loads no
 * schema: it is in `rouse hook`, which runs at each event of a harness.
 */
export async function callBridge(env: Io['env'], message: ClientMessage, timeoutMs = callMaxMs): Promise<boolean> {
  const socket = connectToBridge(env)
  if (socket === undefined) return false
  return new Promise((resolve) => {
    const settle = (isSaid: boolean): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(isSaid)
    }
    const timer = setTimeout(() => settle(false), timeoutMs)
    socket.on('error', () => settle(false))
    socket.on('close', () => settle(false))
    socket.on('connect', () => socket.end(lineOf(message), () => settle(true)))
  })
}

/** Begins a connection to the bridge of this user. undefined: there is no place for one that is this user's alone. */
export function connectToBridge(env: Io['env'], machine: LocalMachine = thisMachine()): Socket | undefined {
  const address = localAddress(env, machine)
  if (address === undefined) return undefined
  // The socket of another user would learn what runs here, and could send text to the models.
  if (address.directory !== undefined && !isPrivateDirectory(address.directory, machine)) return undefined
  return createConnection(address.path)
}
