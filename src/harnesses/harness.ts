import type { AdapterRow, OutgoingWake, UsageLimit } from '../bridge/adapter.ts'
import type { Io } from '../client/io.ts'
import type { Piece } from '../config-files/document.ts'
import type { FormatName } from '../config-files/formats.ts'
import type { Scope } from '../config-files/record.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Check } from './check.ts'
import type { Hooks } from './hooks.ts'
import type { Place } from './places.ts'
import type { Screen } from './screen.ts'

/** All that Rouse knows of one harness. Each has a folder with its description, and a line in `table.ts`. */
export interface Harness {
  /** Its key everywhere: in `rouse install`, `rouse hook`, the bridge and the sources of receipts. */
  readonly id: string
  /** `Claude Code` */
  readonly title: string
  /** The program, as it is called in a shell. */
  readonly binary: string
  /** The surface of its sessions. */
  readonly surface: string
  /** The name that it gives itself as a client of MCP, where `words/surfaces.ts` does not have it. */
  readonly clientName?: RegExp
  readonly variables?: HarnessVariables
  /** The directory that shows that the harness is used here. */
  readonly home: (place: Place) => string
  readonly install: Install
  /** Absent: it has no hooks that Rouse can use. */
  readonly hooks?: Hooks
  /** The way of the bridge into its sessions; absent: only the generic ways. */
  readonly adapter?: () => Promise<AdapterRow>
  /** The program of ours that the harness runs inside a session, to take wakes from the bridge; absent: none. */
  readonly inside?: Inside
  /** The limit of its vendor that it names in a line of its output, at an instant in ms since the epoch; absent: it is not known how. Pure. */
  readonly limitIn?: (line: string, now: number) => UsageLimit | undefined
  /** How its screen reads in a terminal; absent: nothing is typed into it. */
  readonly screen?: Screen
  /** The checks of `rouse doctor` that only this harness needs. `program`: its path. */
  readonly checks?: (program: string, place: Place) => Promise<Check[]>
}

/** The names of variables: those that a harness gives to the programs that it starts, and the one that says where its files are. */
interface HarnessVariables {
  /** Set in every program that it starts. */
  readonly mark?: string
  /** The process of the harness. */
  readonly pid?: string
  /** The id of its conversation. */
  readonly conversation?: string
  /** The folder of its project. */
  readonly directory?: string
  /** Where its files are. */
  readonly home?: string
  /** All that its MCP servers get; absent: they get its whole environment. */
  readonly passed?: readonly string[]
}

/** The programs of ours that a harness runs: `rouse bridge attach <harness>`, `rouse bridge wait <harness>`. */
interface Inside {
  /** Prints each wake of its session as a line, until the session ends. */
  readonly attach: (program: AttachedProgram) => Promise<void>
  /** Waits for one wake of its session, and shows it. Returns whether there was one. */
  readonly wait: (program: WaitingProgram) => Promise<boolean>
}

export interface AttachedProgram {
  readonly env: Io['env']
  readonly cwd: string
  /** Writes a line to standard output. Resolves when it is written. Errors: nobody reads any more. */
  readonly print: (line: string) => Promise<void>
  readonly signal: AbortSignal
}

export interface WaitingProgram {
  readonly env: Io['env']
  /** The event of the hook: `Stop`. */
  readonly event: string
  /** The JSON of the hook. */
  readonly input: JsonObject
  readonly signal: AbortSignal
  /** Shows the wake to the harness, at once. */
  readonly show: (wake: OutgoingWake) => void
}

/** The parts of Rouse that take the wakes of `rouse bridge` in a session of a harness. */
export const bridgeWays = ['plugin', 'hooks', 'extension'] as const
export type BridgeWay = (typeof bridgeWays)[number]

/** The files that `rouse install` writes for a harness, and the hints for its user. */
export interface Install {
  readonly files: (scope: Scope, wanted: EntryChoices) => readonly HarnessFile[]
  readonly scopes: readonly Scope[]
  /** True when it can call `/mcp` of the gateway with a key from its environment. */
  readonly http: boolean
  /** The effect of `--approve-tools`; absent: the harness never asks. */
  readonly approval?: string
  /** Takes the answer of a person elsewhere: by a hook that `--approvals` writes, or by the bridge; absent: it takes none. */
  readonly approvals?: 'hook' | 'bridge'
  /** The ways to take the wakes of the bridge in its sessions, the usual one first; absent: nothing of ours has to. */
  readonly bridgeWays?: (scope: Scope) => readonly BridgeWay[]
  /** The next steps after an installation with one of those. */
  readonly bridgeNext?: readonly string[]
  /** The next steps after the installation. */
  readonly next: readonly string[]
}

/** The choices for the entries of a harness. */
export interface EntryChoices {
  /** The words that start `rouse mcp` and `rouse hook`; the command itself is appended. */
  readonly launch: readonly string[]
  /** `--profile donna`, or nothing: the profile in use. */
  readonly profile: readonly string[]
  /** The gateway's MCP address, for a harness that calls it itself; undefined: it starts `rouse mcp`. */
  readonly url?: string | undefined
  /** True when the harness may call our tools without asking the user. */
  readonly approve: boolean
  /** True when a person may answer from elsewhere what the harness asks. */
  readonly approvals: boolean
  /** The way to take the wakes of the bridge; undefined: nothing does. */
  readonly bridge?: BridgeWay | undefined
  readonly place: Place
}

/** One file of a harness, and what it needs in it. */
export interface HarnessFile {
  readonly path: string
  readonly format: FormatName
  /** Its content, for the user: `MCP server`. */
  readonly holds: string
  readonly pieces: readonly Piece[]
}
