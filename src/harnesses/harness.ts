import type { Piece } from '../config-files/document.ts'
import type { FormatName } from '../config-files/formats.ts'
import type { Place, Scope } from './places.ts'

export const harnessIds = ['claude', 'codex', 'gemini', 'cursor', 'opencode', 'qwen', 'copilot'] as const
export type HarnessId = (typeof harnessIds)[number]

/** What takes the wakes of `rouse bridge` in a session of a harness. */
export const bridgeWays = ['plugin', 'hooks', 'extension'] as const
export type BridgeWay = (typeof bridgeWays)[number]

/** What the entries of a harness have to say. */
export interface Wanted {
  /** The words that start `rouse mcp` and `rouse hook`; the command itself is appended. */
  readonly launch: readonly string[]
  /** `--profile donna`, or nothing: the profile in use. */
  readonly profile: readonly string[]
  /** The gateway's MCP address, for a harness that calls it itself; undefined: it starts `rouse mcp`. */
  readonly url?: string | undefined
  /** Whether the harness may call our tools without asking the user. */
  readonly approve: boolean
  /** What takes the wakes of the bridge; undefined: nothing does. */
  readonly bridge?: BridgeWay | undefined
  readonly place: Place
}

/** One file of a harness, and what it needs in it. */
export interface HarnessFile {
  readonly path: string
  readonly format: FormatName
  /** What is in it, for the user: `MCP server`. */
  readonly holds: string
  readonly pieces: readonly Piece[]
}

/** One harness: where its files are, what is written into them, and what the user has to know. */
export interface Harness {
  readonly id: HarnessId
  readonly title: string
  /** The program, as it is called in a shell. */
  readonly binary: string
  /** The directory that shows that the harness is used here. */
  readonly home: (place: Place) => string
  readonly files: (scope: Scope, wanted: Wanted) => readonly HarnessFile[]
  /** The events that a hook reports, in the harness's own words; none: it has no hooks that Rouse can use. */
  readonly events: readonly string[]
  readonly scopes: readonly Scope[]
  /** Whether it can call `/mcp` of the gateway with a key from its environment. */
  readonly http: boolean
  /** The effect of `--approve-tools`; undefined: the harness never asks. */
  readonly approval?: string
  /** What can take the wakes of the bridge in its sessions, the usual one first; undefined: nothing of ours has to. */
  readonly bridgeWays?: (scope: Scope) => readonly BridgeWay[]
  /** What to do after an installation with one of those. */
  readonly bridgeNext?: readonly string[]
  /** What to do after the installation. */
  readonly next: readonly string[]
}
