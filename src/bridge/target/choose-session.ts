import { sep } from 'node:path'
import type { AdapterId, HarnessSession } from '../adapter.ts'
import { isOf, isSameConversation, type KnownSession, processOf } from './same-conversation.ts'

/** The facts that decide where a wake goes. Paths are absolute, with symbolic links resolved. */
export interface Target {
  /** The harnesses that the user has allowed for the agent, the preferred one first. */
  readonly harnesses: readonly AdapterId[]
  readonly directories: readonly string[]
  /** The sessions that the adapters have found. */
  readonly sessions: readonly HarnessSession[]
  /** The live session of the agent at the gateway. */
  readonly known?: KnownSession | undefined
  /** The live sessions of the other agents of this bridge: their conversations are theirs. */
  readonly others?: readonly KnownSession[]
}

export type Choice =
  | { readonly kind: 'one'; readonly session: HarnessSession }
  | { readonly kind: 'none'; readonly reason: string }
  | { readonly kind: 'misaddressed'; readonly reason: string; readonly candidates: readonly HarnessSession[] }

const namedMax = 8

/**
 * Chooses the conversation that speaks for an agent: by the process of the agent's session at the gateway, otherwise by its conversation
 * id; without a session, the only conversation in the allowed directories. It never guesses the newest of several, and never chooses one
 * outside the allowed directories. `exec` starts a process if there is no conversation. Pure. Source: S1-19, D12.
 */
export function chooseSession(target: Target): Choice {
  const { harnesses, directories, known } = target
  const allowed = target.sessions.filter(
    ({ harness, cwd }) => harnesses.includes(harness) && cwd !== undefined && isWithin(cwd, directories),
  )
  const starters = allowed.filter(({ harness }) => harness === 'exec')
  const conversations = allowed.filter(({ harness }) => harness !== 'exec')
  if (harnesses.every((harness) => harness === 'exec')) return starter(target, starters)
  const choice = known ? chooseKnown(target, known, conversations) : chooseOnly(target, conversations)
  const isNobodyThere = choice.kind === 'none' && known === undefined && conversations.length === 0
  return isNobodyThere && starters.length > 0 ? starter(target, starters) : choice
}

/** True when a path is one of the directories, or below one. Pure. */
export function isWithin(path: string, directories: readonly string[]): boolean {
  return directories.some((directory) => path === directory || path.startsWith(`${directory}${sep}`))
}

function chooseKnown(target: Target, known: KnownSession, conversations: readonly HarnessSession[]): Choice {
  const own = conversations.filter((session) => isOf(known, session))
  if (own.length > 0) return narrowed(target, byIdOrPlace(known, own))
  // Nothing that names it: then the place has to.
  if (processOf(known) === undefined && known.conversationId === undefined) {
    const here = known.cwd === undefined ? conversations : conversations.filter(({ cwd }) => cwd === known.cwd)
    return chooseOnly(target, here)
  }
  return {
    kind: 'none',
    reason: `the session of the agent (${textOfKnown(known)}) is no conversation that this bridge may reach: it has had no prompt yet, or its harness or directory is not in the configuration of the bridge`,
  }
}

/** A server has several conversations in one process. */
function byIdOrPlace(known: KnownSession, own: readonly HarnessSession[]): readonly HarnessSession[] {
  const named = own.filter(({ conversationId }) => conversationId === known.conversationId)
  if (named.length > 0) return own.filter((session) => named.some((one) => isSameConversation(one, session)))
  const there = own.filter(({ cwd }) => cwd === known.cwd)
  return there.length > 0 ? there : own
}

function chooseOnly(target: Target, conversations: readonly HarnessSession[]): Choice {
  const { others = [] } = target
  const free = conversations.filter((session) => !others.some((other) => isOf(other, session)))
  // A conversation that runs in no process does not count while another one runs.
  const live = free.filter(({ process, state }) => process !== undefined || state !== 'unknown')
  const reachable = live.length > 0 ? live : free.filter(({ route }) => route !== undefined)
  if (reachable.length > 0) return narrowed(target, reachable)
  const where = target.directories.join(', ')
  const taken = conversations.length > free.length ? '; those that run there speak for other agents' : ''
  return { kind: 'none', reason: `no conversation of ${target.harnesses.join(', ')} runs in ${where}${taken}` }
}

/** Several ways into one conversation count as one; with several conversations, none is chosen. */
function narrowed({ harnesses }: Target, candidates: readonly HarnessSession[]): Choice {
  const inOrder = [...candidates].sort(
    (one, other) => harnesses.indexOf(one.harness) - harnesses.indexOf(other.harness),
  )
  const best = inOrder.find(({ route }) => route !== undefined) ?? inOrder[0]!
  const isOne = candidates.every((one) => isSameConversation(best, one) && isAlone(one, candidates))
  if (isOne) return { kind: 'one', session: best }
  const names = inOrder.slice(0, namedMax).map(textOfSession)
  const more = inOrder.length > namedMax ? `, and ${inOrder.length - namedMax} more` : ''
  return {
    kind: 'misaddressed',
    reason: `${inOrder.length} conversations may be meant: ${names.join(', ')}${more}. End all but one, or let its hooks (rouse install) say which one speaks for the agent`,
    candidates: inOrder,
  }
}

/** True when a harness reports no other conversation that may be the same one. */
function isAlone({ harness, conversationId }: HarnessSession, candidates: readonly HarnessSession[]): boolean {
  return candidates.every((one) => one.harness !== harness || one.conversationId === conversationId)
}

/** The first of the user's directories that has one. */
function starter({ directories }: Target, starters: readonly HarnessSession[]): Choice {
  const inOrder = directories.flatMap((directory) => starters.filter(({ cwd }) => cwd === directory))
  const session = inOrder[0] ?? starters[0]
  if (session) return { kind: 'one', session }
  return { kind: 'none', reason: `no program is set to be started in ${directories.join(', ')} (adapters.exec)` }
}

/** A conversation in a line: `codex 0199… in /home/donna/app (process 4711)`. Pure. */
function textOfSession({ harness, conversationId, cwd, process }: HarnessSession): string {
  const where = cwd === undefined ? '' : ` in ${cwd}`
  return `${harness} ${conversationId}${where}${process ? ` (process ${process.pid})` : ''}`
}

function textOfKnown({ surface, pid, conversationId, cwd }: KnownSession): string {
  const parts = [
    surface,
    pid === undefined ? '' : `process ${pid}`,
    conversationId ?? '',
    cwd === undefined ? '' : `in ${cwd}`,
  ]
  return parts.filter(Boolean).join(', ')
}
