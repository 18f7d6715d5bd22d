import { execFileSync } from 'node:child_process'

/** A place where a program of the demonstration runs. */
export interface Side {
  readonly address: string
  /** The words that run a program there. */
  argv(words: readonly string[]): readonly [string, ...string[]]
}

interface Sides extends Disposable {
  /** The reason why all of them are this machine; undefined: each is a network of its own. */
  readonly why: string | undefined
  readonly client: Side
  readonly gateway: Side
  readonly desk: Side
}

/**
 * Three networks in a row: the client and the desk reach the gateway, and neither reaches the other. Where networks cannot be made, all
 * of it is on loopback.
 */
export function openSides(): Sides {
  const why = whyNoNetworks()
  if (why !== undefined) {
    const here: Side = { address: '127.0.0.1', argv: (words) => words as [string, ...string[]] }
    return { why, client: here, gateway: here, desk: here, [Symbol.dispose]() {} }
  }
  const names = { client: nameOf('client'), gateway: nameOf('gateway'), desk: nameOf('desk') }
  // Addresses for documentation: no machine has them. RFC 5737.
  const cables = { client: ['192.0.2.1', '192.0.2.2'], desk: ['198.51.100.1', '198.51.100.2'] } as const
  const remove = (): void => {
    for (const name of Object.values(names)) attempt(() => ip('netns', 'del', name))
  }
  try {
    for (const name of Object.values(names)) {
      ip('netns', 'add', name)
      ip('-n', name, 'link', 'set', 'lo', 'up')
    }
    for (const side of ['client', 'desk'] as const) {
      const [atGateway, own] = cables[side]
      const cable = `to-${side}`
      ip('-n', names.gateway, 'link', 'add', cable, 'type', 'veth', 'peer', 'name', 'cable', 'netns', names[side])
      ip('-n', names.gateway, 'address', 'add', `${atGateway}/30`, 'dev', cable)
      ip('-n', names[side], 'address', 'add', `${own}/30`, 'dev', 'cable')
      ip('-n', names.gateway, 'link', 'set', cable, 'up')
      ip('-n', names[side], 'link', 'set', 'cable', 'up')
      // The gateway is in both networks, and the desk finds it at the address that its cards have.
      if (side === 'desk') ip('-n', names.desk, 'route', 'add', `${cables.client[0]}/32`, 'via', atGateway)
    }
  } catch (error) {
    remove()
    throw error
  }
  const side = (name: string, address: string): Side => ({
    address,
    argv: (words) => ['ip', 'netns', 'exec', name, ...words],
  })
  return {
    why,
    client: side(names.client, cables.client[1]),
    gateway: side(names.gateway, cables.client[0]),
    desk: side(names.desk, cables.desk[1]),
    [Symbol.dispose]: remove,
  }
}

function whyNoNetworks(): string | undefined {
  if (process.platform !== 'linux') return 'network namespaces are of Linux'
  if (process.getuid?.() !== 0) return 'only root makes network namespaces'
  const probe = nameOf('probe')
  const failed = attempt(() => {
    ip('netns', 'add', probe)
    ip('netns', 'del', probe)
  })
  return failed === undefined ? undefined : `\`ip netns add\` does not work here: ${failed.trim()}`
}

const nameOf = (side: string): string => `rouse-demo-${process.pid}-${side}`

function ip(...argv: string[]): void {
  execFileSync('ip', argv, { stdio: ['ignore', 'ignore', 'pipe'] })
}

function attempt(act: () => void): string | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
