/** A port that a process of this user listens on, on loopback or everywhere. */
export interface Listener {
  readonly pid: number
  readonly port: number
  /** `127.0.0.1` or `[::1]`: where this machine reaches it. */
  readonly host: string
}

/** Which processes are meant: those of OpenCode, and whatever has the port that the user has named. */
export interface ProcessChoice {
  readonly port?: number | undefined
}

/** True when a listening process is meant. `name`: `opencode`, `opencode.exe` from npm, `.opencode-wrapped` from Nix. Pure. */
export function isMeant(name: string, port: number, meant: ProcessChoice): boolean {
  return /^\.?opencode/.test(name) || port === meant.port
}

/** Where this machine reaches what listens on an address; undefined: not on loopback. Pure. */
export function loopbackOf(address: string): string | undefined {
  if (['127.0.0.1', '0.0.0.0', '*'].includes(address)) return '127.0.0.1'
  return ['[::1]', '[::]', '::1', '::'].includes(address) ? '[::1]' : undefined
}
