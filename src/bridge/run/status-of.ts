import type { AdapterRow, Probe } from '../adapter.ts'
import { agentKey, type BridgedAgent } from '../config/bridge-config.ts'
import type { Journal, WakeRecord } from '../journal/journal.ts'
import type { StartRecord, StartRecords } from '../journal/start-records.ts'
import { type Recipe, recipeHash } from '../restart/recipe.ts'
import { isRunning } from '../restart/started.ts'
import type { RunState } from './agent-state.ts'
import type { AgentStatus, HarnessStatus, RestartStatus, WakeStatus } from './status.ts'
import type { HeldWake } from './wake-queue.ts'

const lastMax = 5
const sessionsMax = 100
const hourMs = 3_600_000

/** The parts of the run of an agent that its status shows. */
interface Run {
  readonly state: RunState
  readonly reason: string
  readonly held: HeldWake | undefined
  readonly waiting: number
  readonly parked: string | undefined
}

/** The status of an agent: of its run, if there is one, and of the journal, if there is one. */
export function agentStatus(
  agent: BridgedAgent,
  run: Run | undefined,
  journal: Journal | undefined,
  now: number,
): AgentStatus {
  const key = agentKey(agent)
  const { profile, harnesses, directories, turnsAnHour } = agent
  return {
    agent: profile.identity,
    profile: profile.name,
    gateway: profile.url,
    state: run?.state ?? 'not running',
    ...(run?.reason ? { reason: run.reason } : {}),
    harnesses,
    directories,
    ...(run?.held ? { held: heldOf(run.held) } : {}),
    waiting: run?.waiting ?? 0,
    turnsLastHour: journal?.turnsSince(key, now - hourMs) ?? 0,
    turnsAnHour,
    ...(agent.approvals ? { approvals: true } : {}),
    ...(agent.restart && journal ? { restart: restartOf(agent.restart, journal.starts, key) } : {}),
    ...(run?.parked ? { parked: run.parked } : {}),
    last: journal?.newest(key, lastMax).map(wakeOf) ?? [],
  }
}

function restartOf(recipe: Recipe, starts: StartRecords, key: string): RestartStatus {
  const proof = starts.proof(key)
  const last = starts.newest(key)
  const running = starts.open(key).find((record) => isRunning(record))
  return {
    harness: recipe.harness,
    ...(proof?.recipe === recipeHash(recipe) ? { provenAt: instant(proof.provenAt) } : {}),
    ...(last ? { last: lastOf(last) } : {}),
    ...(running?.pid ? { pid: running.pid } : {}),
  }
}

function lastOf({ epoch, begunAt, outcome, detail }: StartRecord): RestartStatus['last'] {
  const of = epoch === null ? {} : { epoch }
  return { ...of, at: instant(begunAt), outcome: outcome ?? 'begun', ...(detail === '' ? {} : { detail }) }
}

export function harnessStatus(
  { id, title }: AdapterRow,
  { isThere, version, remarks, sessions }: Probe,
): HarnessStatus {
  return {
    harness: id,
    title,
    isThere,
    ...(version === undefined ? {} : { version }),
    remarks,
    conversations: sessions.slice(0, sessionsMax).map(({ conversationId, cwd, process, state, route, remark }) => ({
      conversationId,
      ...(cwd === undefined ? {} : { cwd }),
      ...(process === undefined ? {} : { pid: process.pid }),
      state,
      ...(route === undefined ? {} : { route }),
      ...(remark === undefined ? {} : { remark }),
    })),
  }
}

function heldOf({ wake, reason, since, nextAt, givenUpAt }: HeldWake): AgentStatus['held'] {
  const next = nextAt === undefined ? {} : { nextAt: instant(nextAt) }
  const end = givenUpAt === undefined ? {} : { givenUpAt: instant(givenUpAt) }
  return { wakeId: wake.eventId, reason, since: instant(since), ...next, ...end }
}

function wakeOf({ id, sender, step, detail, harness, conversationId, route, updatedAt }: WakeRecord): WakeStatus {
  return {
    wakeId: id,
    ...(sender === null ? {} : { from: sender }),
    step,
    ...(detail === '' ? {} : { detail }),
    ...(harness === null ? {} : { harness }),
    ...(conversationId === null ? {} : { conversationId }),
    ...(route === null ? {} : { route }),
    at: instant(updatedAt),
  }
}

const instant = (ms: number): string => new Date(ms).toISOString()
